package lorebook

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// shape is the program that an entry has its members from.
type shape int

const (
	shapePlain shape = iota // what Parse reads
	shapeRisu
	shapeNovelAI
	shapeAgnai
)

// shapeOf tells the programs apart by members that only they have. What has a content and no foreign names is plain,
// even in a file of another program: somebody has converted it before.
func shapeOf(members []member) shape {
	has := func(name string) bool { return memberOf(members, name).Kind() == '"' }
	switch {
	case memberOf(members, "insertorder") != nil, memberOf(members, "alwaysActive") != nil, memberOf(members, "secondkey") != nil:
		return shapeRisu
	case memberOf(members, "content") != nil:
		return shapePlain
	case has("text"):
		return shapeNovelAI
	case has("entry"):
		return shapeAgnai
	default:
		return shapePlain
	}
}

// entries converts those entries that are not plain. changed is false if all are; then nothing was written.
func (i *importer) entries(list jsontext.Value, book *source) (out []byte, changed bool, err error) {
	values, names, err := elements(list)
	if err != nil {
		return nil, false, err
	}
	shut := shutCategories(book)
	out = append(out, list[0])
	for n, value := range values {
		converted, kept, entryChanged, err := i.entry(value, shut)
		if err != nil {
			return nil, false, err
		}
		changed = changed || entryChanged
		if !kept {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		if names != nil {
			out, _ = jsontext.AppendQuote(out, names[n])
			out = append(out, ':')
		}
		out = append(out, converted...)
	}
	return append(out, list[0]+2), changed, nil // [ and ], { and } are two apart
}

// elements lists the entries, with their names if they are members of an object.
func elements(list jsontext.Value) (values []jsontext.Value, names []string, err error) {
	if list.Kind() == '[' {
		values, err = readList(list)
		return values, nil, err
	}
	members, _, err := readObject(list)
	if err != nil {
		return nil, nil, err
	}
	names = []string{}
	for _, m := range members {
		values = append(values, m.value)
		names = append(names, m.name)
	}
	return values, names, nil
}

// shutCategories lists the categories of a NovelAI file that are switched off, and with them their entries.
func shutCategories(book *source) map[string]bool {
	shut := map[string]bool{}
	categories, err := readList(book.member("categories"))
	if err != nil {
		return shut
	}
	for _, category := range categories {
		members, _, err := readObject(category)
		if err != nil {
			continue
		}
		id, _ := textOf(memberOf(members, "id"))
		if enabled, ok := booleanOf(memberOf(members, "enabled")); ok && !enabled && id != "" {
			shut[id] = true
		}
	}
	return shut
}

func (i *importer) entry(value jsontext.Value, shut map[string]bool) (out []byte, kept, changed bool, err error) {
	if value.Kind() != '{' {
		return value, true, false, nil
	}
	members, _, err := readObject(value)
	if err != nil {
		return nil, false, false, err
	}
	c := converter{importer: i, members: members, used: map[string]bool{}}
	switch shapeOf(members) {
	case shapeRisu:
		kept = c.risu()
	case shapeNovelAI:
		kept = c.novelAI(shut)
	case shapeAgnai:
		kept = c.agnai()
	default:
		return value, true, false, nil
	}
	if kept {
		c.dropRest()
	}
	return c.out.end(), kept, true, nil
}

// converter writes one entry anew.
type converter struct {
	*importer
	members []member
	used    map[string]bool
	out     objectWriter
}

// take reads a member and counts it as used; null is not there.
func (c *converter) take(name string) jsontext.Value {
	c.used[name] = true
	if v := memberOf(c.members, name); v.Kind() != 'n' {
		return v
	}
	return nil
}

// copy writes a member under another name, if it is there.
func (c *converter) copy(from, to string) {
	if v := c.take(from); v != nil {
		c.out.add(to, v)
	}
}

// same copies members under their own names.
func (c *converter) same(names ...string) {
	for _, name := range names {
		c.copy(name, name)
	}
}

func (c *converter) dropRest() {
	for _, m := range c.members {
		if !c.used[m.name] {
			c.drop("entries." + m.name)
		}
	}
}

const risuExtensions = "extentions" //nolint:misspell // so it is spelt there

// risu converts an entry of Risu: lists of keys are one text, and the mode may say that it is no entry but a folder.
func (c *converter) risu() (kept bool) {
	mode, _ := textOf(c.take("mode"))
	if mode == "folder" {
		c.drop("folders")
		return false
	}
	patterns, _ := booleanOf(c.take("useRegex"))
	selective, _ := booleanOf(c.take("selective"))
	c.out.addTexts("key", c.risuKeys("key", patterns))
	secondary := c.risuKeys("secondkey", patterns)
	c.out.addTexts("keysecondary", secondary)
	c.out.add("selective", boolText(selective && len(secondary) > 0))
	constant, _ := booleanOf(c.take("alwaysActive"))
	c.out.add("constant", boolText(constant || mode == "constant"))
	c.out.add("content", orEmpty(c.take("content")))
	c.copy("insertorder", "order")
	c.same("comment")
	if ext, _, err := readObject(c.take(risuExtensions)); err == nil {
		if sensitive, ok := booleanOf(memberOf(ext, "risu_case_sensitive")); ok {
			c.out.add("caseSensitive", boolText(sensitive))
		}
	}
	if mode != "" && mode != "normal" && mode != "constant" {
		c.drop("entries.mode " + mode)
	}
	return true
}

// risuKeys reads a list of keys; with patterns it is one pattern, which need not be written /…/.
func (c *converter) risuKeys(name string, patterns bool) []string {
	value := c.take(name)
	text, ok := textOf(value)
	switch {
	case !ok:
		return keyList(value, func(string) { c.drop("entries." + name + " that are no text") })
	case !patterns:
		return splitKeys(text)
	case blank(text):
		return nil
	case strings.HasPrefix(text, "/"):
		return []string{text}
	default:
		return []string{"/" + escapeSlashes(text) + "/"}
	}
}

func escapeSlashes(text string) string {
	var out strings.Builder
	for at := 0; ; {
		slash := unescapedSlash(text, at)
		if slash < 0 {
			out.WriteString(text[at:])
			return out.String()
		}
		out.WriteString(text[at:slash] + `\/`)
		at = slash + 1
	}
}

// novelAI converts an entry of NovelAI: its budget priority is the order, and its category may switch it off.
func (c *converter) novelAI(shut map[string]bool) (kept bool) {
	keys := keyList(c.take("keys"), func(string) { c.drop("entries.keys that are no text") })
	for _, key := range keys {
		if strings.Contains(key, "&") && !strings.HasPrefix(key, "/") {
			c.drop("the meaning of & in keys")
		}
	}
	c.out.addTexts("key", keys)
	constant, _ := booleanOf(c.take("forceActivation"))
	c.out.add("constant", boolText(constant))
	c.out.add("content", orEmpty(c.take("text")))
	c.copy("displayName", "comment")
	if context, _, err := readObject(c.take("contextConfig")); err == nil {
		for _, m := range context {
			if m.name == "budgetPriority" && m.value.Kind() != 'n' {
				c.out.add("order", m.value)
				continue
			}
			c.drop("entries.contextConfig." + m.name)
		}
	}
	enabled, ok := booleanOf(c.take("enabled"))
	category, _ := textOf(memberOf(c.members, "category"))
	c.out.add("disable", boolText(ok && !enabled || shut[category]))
	return true
}

// agnai converts an entry of Agnai.
func (c *converter) agnai() (kept bool) {
	c.out.addTexts("key", keyList(c.take("keywords"), func(string) { c.drop("entries.keywords that are no text") }))
	c.out.addTexts("keysecondary", keyList(c.take("secondaryKeys"), func(string) { c.drop("entries.secondaryKeys that are no text") }))
	c.out.add("content", orEmpty(c.take("entry")))
	if comment := c.take("comment"); comment != nil && string(comment) != `""` {
		c.out.add("comment", comment)
	} else {
		c.copy("name", "comment")
	}
	c.copy("weight", "order")
	c.same("enabled", "constant", "selective", "position", "extensions")
	return true
}

func boolText(b bool) []byte {
	if b {
		return []byte("true")
	}
	return []byte("false")
}

func orEmpty(v jsontext.Value) []byte {
	if v == nil {
		return []byte(`""`)
	}
	return v
}
