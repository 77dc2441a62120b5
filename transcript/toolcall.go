package transcript

import "strings"

// antml is the prefix of the namespace in which some models write their calls and their thoughts.
const antml = "antml:"

// callNames are the elements of step 4 and of F4, and whether their opening tag may be followed by a child tag.
var callNames = map[string]bool{
	"tool_call": true, "tool_calls": true, "function_call": true, "function_calls": true, "toolcall": true,
	"function": true, antml + "invoke": true, "invoke": true, antml + "function_calls": true,
	"tool_result": false, "function_response": false, "tool_response": false, antml + "parameter": false,
}

// allCallNames has the same names as a set.
var allCallNames = func() map[string]bool {
	names := map[string]bool{}
	for name := range callNames {
		names[name] = true
	}
	return names
}()

// calls is the work of step 4 on one text.
type calls struct {
	text    string
	tags    []tag
	closer  []int            // by opening tag: its closing tag, or -1
	opener  []int            // by closing tag: its opening tag, or -1
	closers map[string][]int // by name: the closing tags that are still ahead
	kept    []bool           // opening tags that stay visible
	cuts    []span
	done    int // what stands before it is decided
	last    int // where the last removed call ended; -1: none
	arg     finder
}

// dropCalls is step 4: calls and their results in XML, with F4. Code is protected.
func dropCalls(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	c := &calls{text: text, tags: tagsOf(text, allCallNames, codeOf(text)), closers: map[string][]int{}, last: -1}
	if len(c.tags) > 0 {
		c.match()
		for i := range c.tags {
			if t := c.tags[i]; t.start >= c.done && !t.inCode {
				c.decide(i, t)
			}
		}
		text = cutOut(text, c.cuts)
	}
	return unwrapParameters(text)
}

// match pairs the tags by nesting, each name for itself. A call may also close a result.
func (c *calls) match() {
	c.closer, c.opener = make([]int, len(c.tags)), make([]int, len(c.tags))
	c.kept = make([]bool, len(c.tags))
	open := map[string][]int{}
	for i, t := range c.tags {
		c.closer[i], c.opener[i] = -1, -1
		if t.cut || t.selfClosed {
			continue
		}
		if t.closing {
			c.closers[t.name] = append(c.closers[t.name], i)
		}
		if t.inCode {
			continue
		}
		if !t.closing {
			open[t.name] = append(open[t.name], i)
			continue
		}
		list := open[t.name]
		if len(list) == 0 {
			continue
		}
		from := list[len(list)-1]
		open[t.name] = list[:len(list)-1]
		c.closer[from], c.opener[i] = i, from
	}
}

// after is the first closing tag of the name that begins at or after position i, or -1.
func (c *calls) after(name string, i int) int {
	list := c.closers[name]
	for len(list) > 0 && c.tags[list[0]].start < i {
		list = list[1:]
	}
	c.closers[name] = list
	if len(list) == 0 {
		return -1
	}
	return list[0]
}

func (c *calls) decide(i int, t tag) {
	switch {
	case t.closing:
		if from := c.opener[i]; !t.cut && t.name != "invoke" && (from < 0 || !c.kept[from]) {
			c.cut(t.start, t.end, false)
		}
	case t.selfClosed:
		if t.name != "invoke" && t.name != "function" || containsFold(t.attributes, "name") {
			c.cut(t.start, t.end, false)
		}
	case t.name == "function":
		c.decideFunction(i, t)
	case t.name == "invoke":
		// Without a name and an end it is a word of its own.
		if c.closer[i] >= 0 && containsFold(t.attributes, "name") {
			c.cut(t.start, c.tags[c.closer[i]].end, true)
			return
		}
		c.kept[i] = true
	case t.name == antml+"parameter": // unwrapped at the end of the step
		c.kept[i] = true
	default:
		c.decideCall(i, t)
	}
}

func (c *calls) decideCall(i int, t tag) {
	if end, ok := c.endOfJSON(t); ok {
		c.cut(t.start, end, true)
		return
	}
	if t.cut {
		return
	}
	child := childTag(c.text, t.end)
	if t.name == "function_response" || t.name == "tool_response" {
		c.decideResponse(i, t)
		return
	}
	if to := c.closer[i]; to >= 0 {
		c.cut(t.start, c.tags[to].end, true)
		return
	}
	if to := c.after("tool_call", t.end); t.name == "tool_result" && to >= 0 && c.opener[to] < i {
		c.cut(t.start, c.tags[to].end, true)
		return
	}
	if child && callNames[t.name] || t.name == "tool_call" && c.arguments(t.end) {
		end := len(c.text)
		if to := c.after(t.name, t.end); to >= 0 { // it stands in what looks like code since a backtick of the call opened it
			end = c.tags[to].end
		}
		c.cut(t.start, end, true)
		return
	}
	c.kept[i] = true
}

// endOfJSON is where a block ends whose content is JSON: after its closing tag, or at the end of the text. A tag that is
// itself cut off counts when JSON follows its attributes.
func (c *calls) endOfJSON(t tag) (int, bool) {
	at, ok := opensJSON(c.text, t.end)
	if !ok && t.cut {
		rest := c.text[t.end:]
		if n := strings.IndexAny(rest, "{[<\n"); n >= 0 && (rest[n] == '{' || rest[n] == '[') {
			at, ok = t.end+n, true
		}
	}
	if !ok && !t.cut && attributesHoldJSON(t.attributes) {
		at, ok = t.end, true
	}
	if !ok {
		return 0, false
	}
	end := at
	if at < len(c.text) && (c.text[at] == '{' || c.text[at] == '[') {
		if end, ok = skipBalanced(c.text, at); !ok {
			return len(c.text), true
		}
	}
	to := c.after(t.name, end)
	if other := c.after("tool_call", end); t.name == "tool_result" && other >= 0 && (to < 0 || other < to) {
		to = other
	}
	if to < 0 {
		return len(c.text), true
	}
	return c.tags[to].end, true
}

// attributesHoldJSON tells whether JSON began inside of the opening tag and its ">" belongs to that.
func attributesHoldJSON(attributes string) bool {
	n := strings.IndexByte(attributes, '{')
	return n >= 0 && strings.HasPrefix(strings.TrimSpace(attributes[n+1:]), `"`)
}

// decideResponse handles the answers that go only on lines of their own or directly after a call that went.
func (c *calls) decideResponse(i int, t tag) {
	follows := c.last >= 0 && skipSpace(c.text, c.last) >= t.start
	to := c.closer[i]
	switch {
	case to >= 0 && (follows || t.name == "tool_response" || startsLine(c.text, t.start) && endsLine(c.text, c.tags[to].end)):
		c.cut(t.start, c.tags[to].end, true)
	case to < 0 && follows:
		c.cut(t.start, len(c.text), true)
	default:
		c.kept[i] = true
	}
}

// decideFunction handles <function name="…"> and <function=name>.
func (c *calls) decideFunction(i int, t tag) {
	to := c.closer[i]
	own := strings.HasPrefix(strings.TrimLeftFunc(t.attributes, space), "=")
	child := childTag(c.text, t.end)
	at, json := opensJSON(c.text, t.end)
	switch {
	case t.cut || to < 0,
		own && !child && !json && !startsLine(c.text, t.start),
		!own && (!child && !json || !containsFold(t.attributes, "name") || !opensSentence(c.text, t.start)):
		c.kept[i] = true
		return
	}
	end := c.tags[to].end
	if json { // a closing tag in a text of the JSON does not count
		var ok bool
		if end, ok = skipBalanced(c.text, at); ok {
			if to = c.after(t.name, end); to >= 0 {
				end = c.tags[to].end
			}
		}
	}
	if next := to + 1; own && to >= 0 && next < len(c.tags) && c.tags[next].name == "tool_call" && c.tags[next].closing &&
		!c.tags[next].cut && skipSpace(c.text, end) == c.tags[next].start {
		end = c.tags[next].end
	}
	c.cut(t.start, end, true)
}

// opensSentence tells whether position i is at the start of a line or after the end of a sentence.
func opensSentence(text string, i int) bool {
	for i > 0 && (text[i-1] == ' ' || text[i-1] == '\t') {
		i--
	}
	return i == 0 || strings.IndexByte("\n.!?:", text[i-1]) >= 0 || text[i-1] == '>'
}

// arguments tells whether the content of a call that is never closed is a name and its arguments, as F4 has it.
func (c *calls) arguments(i int) bool {
	name, after := readName(c.text, skipSpace(c.text, i))
	if name == "" {
		return false
	}
	at := skipSpace(c.text, after)
	if hasPrefixFold(c.text[at:], "<arg_key") {
		return true
	}
	return c.arg.find(c.text, "</arg_value>", i) < len(c.text)
}

// childTag tells whether the first thing after position i is an opening tag.
func childTag(text string, i int) bool {
	i = skipSpace(text, i)
	if i >= len(text) || text[i] != '<' {
		return false
	}
	name, _ := readName(text, skipSpace(text, i+1))
	return name != "" && (name[0] >= 'a' && name[0] <= 'z')
}

func (c *calls) cut(start, end int, call bool) {
	c.cuts = append(c.cuts, span{start: start, end: end})
	c.done = end
	if call {
		c.last = end
	}
}
