package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// peer is a database that somebody might take instead, started for the run with durable writes.
type peer interface {
	name() string
	goal() float64 // our writes through HTTP over its writes through its own protocol
	writes(ctx context.Context, span time.Duration) (perSecond float64, err error)
	stop()
}

// startPeers starts those that are installed and says which are not.
func startPeers(ctx context.Context, dir string) []peer {
	var peers []peer
	for _, start := range []func(context.Context, string) (peer, error){startRedis, startPostgres} {
		p, err := start(ctx, dir)
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench: left out:", err)
			continue
		}
		peers = append(peers, p)
	}
	return peers
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

// until tries again and again until fn works, for ten seconds.
func until(ctx context.Context, fn func() error) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := fn()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}

// redis is a Redis server that syncs every write.
type redis struct {
	cmd  *exec.Cmd
	addr string
}

func startRedis(ctx context.Context, dir string) (peer, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, "--port", port, "--bind", "127.0.0.1", "--dir", dir, "--appendonly", "yes", "--appendfsync", "always", "--save", "")
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	r := &redis{cmd: cmd, addr: "127.0.0.1:" + port}
	if err := until(ctx, func() error {
		c, err := net.Dial("tcp", r.addr)
		if err == nil {
			err = c.Close()
		}
		return err
	}); err != nil {
		r.stop()
		return nil, err
	}
	return r, nil
}

func (r *redis) name() string  { return "Redis, appendfsync always" }
func (r *redis) goal() float64 { return 0.6 }

func (r *redis) writes(ctx context.Context, span time.Duration) (float64, error) {
	l, err := repeat(ctx, clients, span, func(client int) (func(int) error, func(), error) {
		conn, err := net.Dial("tcp", r.addr)
		if err != nil {
			return nil, nil, err
		}
		in := bufio.NewReader(conn)
		return func(i int) error {
			text := value(int64(client)<<32 + int64(i))
			key := "slot-" + strconv.Itoa((client*131+i)%slots)
			_, err := fmt.Fprintf(conn, "*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(key), key, len(text), text)
			if err != nil {
				return err
			}
			line, err := in.ReadSlice('\n')
			if err == nil && !bytes.HasPrefix(line, []byte("+OK")) {
				err = fmt.Errorf("redis answered %q", line)
			}
			return err
		}, func() { conn.Close() }, nil
	})
	return l.perSecond, err
}

func (r *redis) stop() {
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait()
}

// postgres is a PostgreSQL server with the settings it comes with, driven by its own pgbench.
type postgres struct {
	bin, data, socket string
	asUser            string // the server refuses to run as root
}

const pgScript = `\set slot random(1, 4096)
\set n random(1, 1000000000)
INSERT INTO cell (id, value) VALUES (:slot, :n || repeat('x', 1000)) ON CONFLICT (id) DO UPDATE SET value = excluded.value;
`

func startPostgres(ctx context.Context, dir string) (peer, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) == 0 {
		return nil, errors.New("no PostgreSQL server below /usr/lib/postgresql")
	}
	home, err := os.MkdirTemp("", "sessile-bench-pg-")
	if err != nil {
		return nil, err
	}
	p := &postgres{bin: filepath.Dir(found[len(found)-1]), data: filepath.Join(home, "data"), socket: home}
	if me, err := user.Current(); err == nil && me.Uid == "0" {
		p.asUser = "postgres"
		if out, err := exec.CommandContext(ctx, "chown", "postgres", home).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w: %s", err, out)
		}
	}
	for _, args := range [][]string{
		{"initdb", "-D", p.data, "-A", "trust", "-U", "bench", "--no-sync"},
		{"pg_ctl", "-D", p.data, "-w", "-l", filepath.Join(home, "log"), "-o", "-c listen_addresses='' -k " + p.socket, "start"},
	} {
		if err := p.run(ctx, nil, args...); err != nil {
			return nil, err
		}
	}
	if err := p.run(ctx, nil, "psql", "-h", p.socket, "-U", "bench", "-d", "postgres", "-qc", "CREATE TABLE cell (id int PRIMARY KEY, value text NOT NULL)"); err != nil {
		p.stop()
		return nil, err
	}
	return p, os.WriteFile(filepath.Join(home, "script.sql"), []byte(pgScript), 0o644)
}

func (p *postgres) run(ctx context.Context, out *bytes.Buffer, args ...string) error {
	args[0] = filepath.Join(p.bin, args[0])
	if p.asUser != "" {
		args = append([]string{"setpriv", "--reuid", p.asUser, "--clear-groups"}, args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = p.socket
	var all bytes.Buffer
	if out == nil {
		out = &all
	}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, out.String())
	}
	return nil
}

func (p *postgres) name() string  { return "PostgreSQL, plain upsert" }
func (p *postgres) goal() float64 { return 1 }

var tps = regexp.MustCompile(`tps = ([0-9.]+)`)

func (p *postgres) writes(ctx context.Context, span time.Duration) (float64, error) {
	seconds := max(1, int(span.Round(time.Second).Seconds()))
	var out bytes.Buffer
	err := p.run(ctx, &out, "pgbench", "-h", p.socket, "-U", "bench", "-n", "-M", "prepared", "-c", strconv.Itoa(clients), "-j", "2",
		"-T", strconv.Itoa(seconds), "-f", filepath.Join(p.socket, "script.sql"), "postgres")
	if err != nil {
		return 0, err
	}
	m := tps.FindStringSubmatch(out.String())
	if m == nil {
		return 0, fmt.Errorf("pgbench said %s", out.String())
	}
	return strconv.ParseFloat(m[1], 64)
}

func (p *postgres) stop() {
	_ = p.run(context.Background(), nil, "pg_ctl", "-D", p.data, "-m", "immediate", "stop")
	_ = os.RemoveAll(p.socket)
}
