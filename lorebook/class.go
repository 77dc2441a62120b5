package lorebook

import (
	"errors"
	"strings"
)

// class reads a character class, the opening bracket being read already.
func (t *translator) class() error {
	negated := t.skip("^")
	if t.skip("]") {
		if negated {
			t.emit(anything, 1)
		} else {
			t.emit(nothing, 1)
		}
		return nil
	}
	var items strings.Builder
	size := 0
	for !t.skip("]") {
		cost, err := t.classItem(&items)
		if err != nil {
			return err
		}
		size += cost
	}
	head := "["
	if negated {
		head = "[^"
	}
	t.emit(head+items.String()+"]", size)
	return nil
}

// classItem reads a character, a range or a set.
func (t *translator) classItem(items *strings.Builder) (size int, err error) {
	low, set, size, err := t.classAtom()
	if err != nil {
		return 0, err
	}
	if !strings.HasPrefix(t.src[t.at:], "-") || strings.HasPrefix(t.src[t.at:], "-]") {
		t.writeItem(items, low, low, set)
		return size, nil
	}
	t.at++
	high, highSet, highSize, err := t.classAtom()
	if err != nil {
		return 0, err
	}
	if set != "" || highSet != "" { // no range, but three items
		if t.unicode {
			return 0, errors.New("a range in a class has no end")
		}
		t.writeItem(items, low, low, set)
		t.writeItem(items, '-', '-', "")
		t.writeItem(items, high, high, highSet)
		return size + 1 + highSize, nil
	}
	if low > high {
		return 0, errors.New("a range in a class is out of order")
	}
	t.writeItem(items, low, high, "")
	return size, nil
}

// classAtom reads a character, or a set as it is to be written.
func (t *translator) classAtom() (r rune, set string, size int, err error) {
	if t.at == len(t.src) {
		return 0, "", 0, errors.New("a class is not closed")
	}
	r = t.take()
	if r != '\\' {
		return r, "", 1, nil
	}
	set, size, found, err := t.setEscape()
	if err != nil || found {
		return 0, set, size, err
	}
	switch {
	case t.skip("b"):
		return '\b', "", 1, nil
	case t.skip("-"):
		return '-', "", 1, nil
	}
	r, err = t.runeEscape()
	return r, "", 1, err
}

func (t *translator) writeItem(items *strings.Builder, low, high rune, set string) {
	if set != "" {
		items.WriteString(set)
		return
	}
	items.WriteString(quoteRune(low))
	if high > low {
		items.WriteString("-" + quoteRune(high))
	}
	if t.lines && (low <= '\r' && '\r' <= high || low <= '\u2029' && '\u2028' <= high) {
		items.WriteString(`\n`)
	}
}
