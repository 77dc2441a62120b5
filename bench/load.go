package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"
)

// load is what a number of clients measured.
type load struct {
	perSecond float64
	p50, p99  time.Duration
	cpu       time.Duration // processor time of one call, of clients and server
}

// connection speaks as little HTTP as a load needs, so that the clients leave the processors to the server.
type connection struct {
	conn net.Conn
	in   *bufio.Reader
}

func dial(addr string) (*connection, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &connection{conn: conn, in: bufio.NewReaderSize(conn, 16<<10)}, nil
}

func get(path string) []byte {
	return []byte("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n")
}

func post(path string, body []byte) []byte {
	head := "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n"
	return append([]byte(head), body...)
}

var errStatus = errors.New("an answer that is not 200")

// ask sends a request and reads the answer, which must be a 200 with a length.
func (c *connection) ask(request []byte) error {
	if _, err := c.conn.Write(request); err != nil {
		return err
	}
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(line, []byte("HTTP/1.1 200")) {
		return fmt.Errorf("%w: %s", errStatus, bytes.TrimSpace(line))
	}
	length := int64(0)
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(line) <= 2 {
			break
		}
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if length, err = strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64); err != nil {
				return err
			}
		}
	}
	_, err = io.CopyN(io.Discard, c.in, length)
	return err
}

// drive lets clients ask for a while, each with its own connection. next makes the i-th request of a client.
func drive(ctx context.Context, addr string, clients int, span time.Duration, next func(client, i int) []byte) (load, error) {
	return repeat(ctx, clients, span, func(client int) (func(i int) error, func(), error) {
		c, err := dial(addr)
		if err != nil {
			return nil, nil, err
		}
		return func(i int) error { return c.ask(next(client, i)) }, func() { c.conn.Close() }, nil
	})
}

// repeat runs one function per client again and again, and measures each call.
func repeat(ctx context.Context, clients int, span time.Duration, start func(client int) (call func(i int) error, done func(), err error)) (load, error) {
	ctx, cancel := context.WithTimeout(ctx, span)
	defer cancel()
	var mu sync.Mutex
	var times []time.Duration
	var failed error
	var group sync.WaitGroup
	begin, cpu := time.Now(), ownTime()
	for client := range clients {
		group.Go(func() {
			call, done, err := start(client)
			var own []time.Duration
			if err == nil {
				defer done()
				for i := 0; ctx.Err() == nil && err == nil; i++ {
					t := time.Now()
					err = call(i)
					own = append(own, time.Since(t))
				}
			}
			mu.Lock()
			defer mu.Unlock()
			times = append(times, own...)
			failed = errors.Join(failed, err)
		})
	}
	group.Wait()
	elapsed, cpu := time.Since(begin), ownTime()-cpu
	if failed != nil {
		return load{}, failed
	}
	slices.Sort(times)
	return load{
		perSecond: float64(len(times)) / elapsed.Seconds(),
		p50:       times[len(times)/2],
		p99:       times[len(times)*99/100],
		cpu:       cpu / time.Duration(len(times)),
	}, nil
}
