package sessile

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"time"
)

// Prefixes of public ids. An id is opaque to clients; the prefix is for people who read logs.
const (
	PrefixSession  = "ses_"
	PrefixFloor    = "flr_"
	PrefixPage     = "pag_"
	PrefixMessage  = "msg_"
	PrefixRun      = "run_"
	PrefixMutation = "mut_"
	PrefixRequest  = "req_"

	PrefixNotice    = "ntc_"
	PrefixDelivery  = "dlv_"
	PrefixWorldbook = "wbk_"
)

// idEncoding is base32 in the lower-case extended alphabet, which keeps the order of the bytes.
var idEncoding = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

// encodeID writes a prefix and bytes with a single allocation.
func encodeID(prefix string, id []byte) string {
	var buffer [64]byte
	return string(idEncoding.AppendEncode(append(buffer[:0], prefix...), id))
}

// IDs makes public ids: a prefix and a version-7 UUID in 26 base32 characters, ordered by time. The zero value is
// ready to use. It may be used concurrently if Rand may.
type IDs struct {
	// Now tells the time; default time.Now.
	Now func() time.Time
	// Rand is the source of randomness; default crypto/rand.Reader.
	Rand io.Reader
}

// New makes an id with the prefix.
func (g IDs) New(prefix string) string {
	var id [16]byte
	g.read(id[6:])
	now := time.Now
	if g.Now != nil {
		now = g.Now
	}
	ms := uint64(now().UnixMilli())
	binary.BigEndian.PutUint16(id[0:], uint16(ms>>32))
	binary.BigEndian.PutUint32(id[2:], uint32(ms))
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return encodeID(prefix, id[:])
}

// UUID makes a random UUID in its usual form, for names that are given to other programs.
func (g IDs) UUID() string {
	var id [16]byte
	g.read(id[:])
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// Suffix makes eight random characters of the id alphabet, for names that a person may have to type.
func (g IDs) Suffix() string {
	var b [5]byte
	g.read(b[:])
	return encodeID("", b[:])
}

func (g IDs) read(b []byte) {
	if g.Rand == nil {
		_, _ = rand.Read(b) // it never fails, and keeps b on the caller's stack
		return
	}
	own := make([]byte, len(b))
	if _, err := io.ReadFull(g.Rand, own); err != nil {
		panic(fmt.Sprintf("sessile: the source of randomness failed: %v", err))
	}
	copy(b, own)
}

// MutationID is the public id of the mutation with a sequence number. It needs no column and no index.
func MutationID(seq int64) string { return numberID(PrefixMutation, seq) }

// ParseMutationID is the inverse of [MutationID]; ok is false for any other text.
func ParseMutationID(id string) (seq int64, ok bool) { return parseNumberID(PrefixMutation, id) }

// NoticeID is the public id of the notice with a row number.
func NoticeID(row int64) string { return numberID(PrefixNotice, row) }

// ParseNoticeID is the inverse of [NoticeID]; ok is false for any other text.
func ParseNoticeID(id string) (row int64, ok bool) { return parseNumberID(PrefixNotice, id) }

// DeliveryID is the public id of the delivery with a row number.
func DeliveryID(row int64) string { return numberID(PrefixDelivery, row) }

// ParseDeliveryID is the inverse of [DeliveryID]; ok is false for any other text.
func ParseDeliveryID(id string) (row int64, ok bool) { return parseNumberID(PrefixDelivery, id) }

func numberID(prefix string, number int64) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(number))
	return encodeID(prefix, b[:])
}

func parseNumberID(prefix, id string) (number int64, ok bool) {
	text, found := strings.CutPrefix(id, prefix)
	if !found || len(text) != 13 {
		return 0, false
	}
	b, err := idEncoding.DecodeString(text)
	if err != nil || len(b) != 8 {
		return 0, false
	}
	number = int64(binary.BigEndian.Uint64(b))
	if number <= 0 || numberID(prefix, number) != id {
		return 0, false
	}
	return number, true
}
