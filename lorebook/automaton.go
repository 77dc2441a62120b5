package lorebook

// automaton finds many literals in one pass over a text (Aho and Corasick): its time is linear in the text, however many
// literals there are.
type automaton struct {
	words bool // a literal counts only between non-word characters
	nodes []trieNode
	roots [256]int32
	hits  []literal
}

// trieNode is one prefix of a literal. Nodes are numbers; 0 is the empty prefix, and also says "none".
type trieNode struct {
	child, sibling int32
	fail           int32 // the longest proper suffix that is a prefix of a literal
	hit            int32 // the literal that ends here, as an index into hits; -1 if none
	suffix         int32 // the next shorter literal that ends here, as an index into hits; -1 if none
	label          byte
}

// literal is one distinct text and the keys that are it.
type literal struct {
	length int
	suffix int32
	keys   []int32
}

func newAutomaton(words bool) *automaton {
	return &automaton{words: words, nodes: []trieNode{{hit: -1, suffix: -1}}}
}

// add puts in a key. The text is not empty.
func (a *automaton) add(text string, key int32) {
	state := int32(0)
	for i := range len(text) {
		next := a.child(state, text[i])
		if next == 0 {
			next = a.grow(state, text[i])
		}
		state = next
	}
	node := &a.nodes[state]
	if node.hit < 0 {
		node.hit = int32(len(a.hits))
		a.hits = append(a.hits, literal{length: len(text)})
	}
	a.hits[node.hit].keys = append(a.hits[node.hit].keys, key)
}

func (a *automaton) child(state int32, label byte) int32 {
	if state == 0 {
		return a.roots[label]
	}
	next := a.nodes[state].child
	for next != 0 && a.nodes[next].label != label {
		next = a.nodes[next].sibling
	}
	return next
}

func (a *automaton) grow(state int32, label byte) int32 {
	next := int32(len(a.nodes))
	node := trieNode{hit: -1, suffix: -1, label: label}
	if state == 0 {
		a.roots[label] = next
	} else {
		node.sibling = a.nodes[state].child
		a.nodes[state].child = next
	}
	a.nodes = append(a.nodes, node)
	return next
}

// link computes the fail and suffix links, after all literals are in.
func (a *automaton) link() {
	var queue []int32
	for _, state := range a.roots {
		if state != 0 {
			queue = append(queue, state)
		}
	}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		node := &a.nodes[state]
		if node.hit >= 0 {
			a.hits[node.hit].suffix = node.suffix
		}
		for next := node.child; next != 0; next = a.nodes[next].sibling {
			fail := a.step(node.fail, a.nodes[next].label)
			a.nodes[next].fail = fail
			a.nodes[next].suffix = a.longest(fail)
			queue = append(queue, next)
		}
	}
}

// longest is the longest literal that a state's prefix ends with.
func (a *automaton) longest(state int32) int32 {
	if hit := a.nodes[state].hit; hit >= 0 {
		return hit
	}
	return a.nodes[state].suffix
}

func (a *automaton) step(state int32, label byte) int32 {
	for {
		if next := a.child(state, label); next != 0 || state == 0 {
			return next
		}
		state = a.nodes[state].fail
	}
}

// find calls found for every literal in a text for which done is false; found makes it true.
func (a *automaton) find(text folded, done func(hit int32) bool, found func(hit int32)) {
	state := int32(0)
	for i := range len(text.text) {
		state = a.step(state, text.text[i])
		hit := a.longest(state)
		if hit < 0 {
			continue
		}
		if a.words {
			a.findWords(text, i+1, hit, done, found)
			continue
		}
		// Whatever ends a literal was found together with it, so the chain is walked once for each.
		for ; hit >= 0 && !done(hit); hit = a.hits[hit].suffix {
			found(hit)
		}
	}
}

// findWords looks among the literals that end at an offset for those that stand alone.
func (a *automaton) findWords(text folded, end int, hit int32, done func(hit int32) bool, found func(hit int32)) {
	if text.wordAt(end) {
		return
	}
	for ; hit >= 0; hit = a.hits[hit].suffix {
		if !done(hit) && !text.wordAt(end-a.hits[hit].length-1) {
			found(hit)
		}
	}
}
