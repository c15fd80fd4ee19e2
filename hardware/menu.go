package hardware

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// World is the state of the program that the menu needs, as plain values.
type World struct {
	Ships      []Choosable // that are on the table
	From, To   string      // the chosen pair
	Arc        string      // the chosen arc
	Arcs       []string    // that the attacker has
	Edition    string      // of the rules
	Editions   []string    // that there are
	Frozen     bool
	Held       uint64 // the number of the held answer
	Guarded    bool   // the held answer waits for a judge: releasing it needs a confirmation
	CanFreeze  bool   // the program can hold an answer
	CanJudge   bool   // a judge can be called, or the evidence is kept
	CanEdition bool   // the edition can be changed
	Address    string // of the page, "http://192.168.178.25:8080/"
	Code       string // to pair a phone with; "" for none
}

// Choosable is a ship that can be chosen.
type Choosable struct {
	ID     string
	Player int
}

// CommandKind is a kind of request to the program.
type CommandKind int8

// The commands.
const (
	CommandChoose  CommandKind = iota + 1 // From, To and Arc are chosen
	CommandFreeze                         // hold the answer
	CommandRelease                        // release it
	CommandJudge                          // call a judge: keep the evidence
	CommandEdition                        // change to Edition
)

// Command is a request of the menu to the program.
type Command struct {
	Kind          CommandKind
	From, To, Arc string
	Edition       string
	Held          uint64 // of CommandRelease: the answer to release
}

// menuPage is a page of the menu.
type menuPage int8

const (
	pageAnswer    menuPage = iota // the answer; turning the knob changes its page
	pageMenu                      // the list of everything
	pageAttacker                  // the list of ships
	pageTarget                    // the list of ships without the attacker
	pageArc                       // the attacker's arcs
	pageEdition                   // the editions
	pageAddress                   // address and code of the page
	pageJudgeSent                 // a judge was called
	pageRelease                   // confirms the release of an answer that waits for a judge
)

// Menu is the state of the controls' menu. It is a plain value and Handle is a pure function: the
// same inputs at the same times give the same commands. The zero value shows the answer.
type Menu struct {
	page     menuPage
	answer   int       // which page of the answer
	selected string    // in a list: the entry's name, since the entries may change
	place    int       // its index, in case it disappears
	attacker string    // chosen, while the target is not
	touched  time.Time // last
}

// MenuIdle is how long the controls rest before the answer is shown again.
const MenuIdle = 20 * time.Second

// The menu's entries.
const (
	entryAttacker  = "attacker"
	entryTarget    = "target"
	entryArc       = "arc"
	entryFreeze    = "freeze"
	entryRelease   = "release"
	entryJudge     = "call a judge"
	entryEdition   = "edition"
	entryAddress   = "page address"
	entryBack      = "back"
	entryStay      = "stay held"
	entryReleaseIt = "release it"
)

// Handle processes an input and returns the new menu and the commands for the program.
//
// Everywhere, holding freeze calls a judge, and holding the knob or choose shows the answer. At
// the answer, turning changes the page, the knob opens the menu, choose chooses a pair (attacker,
// then target), and freeze holds or releases the answer. In a list, turning moves the selection,
// the knob or choose takes it, and freeze goes back. An answer that waits for a judge is released
// only by the entry "release it" of a list.
func (m Menu) Handle(in Input, w World, now time.Time) (Menu, []Command) {
	m = m.at(now)
	m.touched = now
	switch in {
	case HoldFreeze:
		if !w.CanJudge {
			return m, nil
		}
		return Menu{page: pageJudgeSent, touched: now}, []Command{{Kind: CommandJudge}}
	case HoldKnob, HoldChoose:
		return Menu{touched: now}, nil
	}
	switch m.page {
	case pageAnswer:
		return m.atAnswer(in, w)
	case pageAddress, pageJudgeSent:
		if in != InputNone && in != TurnLeft && in != TurnRight {
			return Menu{touched: now}, nil
		}
		return m, nil
	}
	return m.atList(in, w)
}

// at returns the menu at a time: back at the answer after MenuIdle.
func (m Menu) at(now time.Time) Menu {
	if !m.touched.IsZero() && now.Sub(m.touched) >= MenuIdle {
		return Menu{answer: m.answer}
	}
	return m
}

func (m Menu) atAnswer(in Input, w World) (Menu, []Command) {
	switch in {
	case TurnRight:
		m.answer = (m.answer + 1) % answerPages
	case TurnLeft:
		m.answer = (m.answer + answerPages - 1) % answerPages
	case PushKnob:
		return m.open(pageMenu, entryAttacker, w), nil
	case PushChoose:
		return m.open(pageAttacker, w.From, w), nil
	case PushFreeze:
		return m.freeze(w)
	}
	return m, nil
}

// freeze holds or releases the answer. It asks for confirmation if the answer waits for a judge.
func (m Menu) freeze(w World) (Menu, []Command) {
	switch {
	case w.Frozen && w.Guarded:
		return m.open(pageRelease, entryStay, w), nil
	case w.Frozen:
		return m, []Command{{Kind: CommandRelease, Held: w.Held}}
	case w.CanFreeze:
		return m, []Command{{Kind: CommandFreeze}}
	}
	return m, nil
}

// open shows a list with an entry selected, or with its first if there is no such entry.
func (m Menu) open(p menuPage, selected string, w World) Menu {
	m.page, m.selected, m.place = p, selected, 0
	return m.moved(0, w)
}

// moved moves the selection, not beyond the list's ends.
func (m Menu) moved(by int, w World) Menu {
	entries := m.entries(w)
	if len(entries) == 0 {
		m.selected, m.place = "", 0
		return m
	}
	m.place = max(0, min(m.cursor(entries)+by, len(entries)-1))
	m.selected = entries[m.place]
	return m
}

// cursor returns the index of the selected entry, or its last index if it has disappeared.
func (m Menu) cursor(entries []string) int {
	if i := slices.Index(entries, m.selected); i >= 0 {
		return i
	}
	return max(0, min(m.place, len(entries)-1))
}

// entries lists what can be chosen on the page.
func (m Menu) entries(w World) []string {
	switch m.page {
	case pageMenu:
		return menuEntries(w)
	case pageAttacker:
		return shipsBut(w.Ships, "", 0)
	case pageTarget:
		i := slices.IndexFunc(w.Ships, func(s Choosable) bool { return s.ID == m.attacker })
		if i < 0 {
			return shipsBut(w.Ships, m.attacker, 0)
		}
		return shipsBut(w.Ships, m.attacker, w.Ships[i].Player)
	case pageArc:
		return w.Arcs
	case pageEdition:
		return w.Editions
	case pageRelease:
		if w.Frozen {
			return []string{entryStay, entryReleaseIt}
		}
	}
	return nil
}

func menuEntries(w World) []string {
	out := []string{entryAttacker, entryTarget, entryArc}
	if w.Frozen {
		out = append(out, entryRelease)
	} else if w.CanFreeze {
		out = append(out, entryFreeze)
	}
	if w.CanJudge {
		out = append(out, entryJudge)
	}
	if w.CanEdition {
		out = append(out, entryEdition)
	}
	return append(out, entryAddress, entryBack)
}

// shipsBut lists the ships except one, other players' ships first.
func shipsBut(ships []Choosable, but string, player int) []string {
	var others, own []string
	for _, s := range ships {
		switch {
		case s.ID == but:
		case s.Player == player:
			own = append(own, s.ID)
		default:
			others = append(others, s.ID)
		}
	}
	return append(others, own...)
}

func (m Menu) atList(in Input, w World) (Menu, []Command) {
	switch in {
	case TurnRight:
		return m.moved(1, w), nil
	case TurnLeft:
		return m.moved(-1, w), nil
	case PushFreeze:
		return m.back(w), nil
	case PushKnob, PushChoose:
		// If the selected entry has disappeared, the next press must not take the one in its place: only
		// the selection moves there.
		if entries := m.entries(w); !slices.Contains(entries, m.selected) {
			if len(entries) == 0 {
				return m.back(w), nil
			}
			return m.moved(0, w), nil
		}
		return m.take(w)
	}
	return m, nil
}

// back goes one step back.
func (m Menu) back(w World) Menu {
	if m.page == pageTarget && m.attacker != "" {
		return m.open(pageAttacker, m.attacker, w)
	}
	return Menu{touched: m.touched}
}

// take takes the selected entry.
func (m Menu) take(w World) (Menu, []Command) {
	done := Menu{touched: m.touched}
	switch m.page {
	case pageAttacker:
		m.attacker = m.selected
		return m.open(pageTarget, w.To, w), nil
	case pageTarget:
		from := m.attacker
		if from == "" {
			from = w.From
		}
		return done, []Command{{Kind: CommandChoose, From: from, To: m.selected, Arc: w.Arc}}
	case pageArc:
		return done, []Command{{Kind: CommandChoose, From: w.From, To: w.To, Arc: m.selected}}
	case pageEdition:
		return done, []Command{{Kind: CommandEdition, Edition: m.selected}}
	case pageRelease:
		if m.selected == entryReleaseIt {
			return done, []Command{{Kind: CommandRelease, Held: w.Held}}
		}
		return done, nil
	}
	switch m.selected {
	case entryAttacker:
		return m.open(pageAttacker, w.From, w), nil
	case entryTarget:
		m.attacker = w.From
		if w.From == "" { // a target of whom?
			return m.open(pageAttacker, "", w), nil
		}
		return m.open(pageTarget, w.To, w), nil
	case entryArc:
		return m.open(pageArc, w.Arc, w), nil
	case entryFreeze, entryRelease:
		return done.freeze(w)
	case entryJudge:
		done.page = pageJudgeSent
		return done, []Command{{Kind: CommandJudge}}
	case entryEdition:
		return m.open(pageEdition, w.Edition, w), nil
	case entryAddress:
		done.page = pageAddress
	}
	return done, nil
}

// Screen returns what the display shows at a time.
func (m Menu) Screen(w World, now time.Time) Screen {
	m = m.at(now)
	titles := map[menuPage]string{pageMenu: "Menu", pageAttacker: "Attacker?", pageTarget: "Target of " + m.attacker + "?",
		pageArc: "Which arc?", pageEdition: "Edition?", pageRelease: "Judge called"}
	switch m.page {
	case pageAnswer:
		return Screen{Page: m.answer}
	case pageAddress:
		return Screen{Kind: ScreenAddress, Address: w.Address, Code: w.Code}
	case pageJudgeSent:
		return Screen{Kind: ScreenMessage, Title: "Judge called", Text: "It stands on the page. Touch no ship."}
	}
	entries := m.entries(w)
	if len(entries) == 0 {
		return Screen{Kind: ScreenMessage, Title: titles[m.page], Text: m.nothing()}
	}
	s := Screen{Kind: ScreenList, Title: titles[m.page], Items: slices.Clone(entries), Selected: m.cursor(entries)}
	for i, e := range s.Items {
		s.Items[i] = entryText(m.page, e, w)
	}
	return s
}

// nothing says why a list is empty.
func (m Menu) nothing() string {
	switch m.page {
	case pageArc:
		return "Choose a pair first."
	case pageRelease:
		return "Nothing is held any more."
	}
	return "No ship is seen."
}

// entryText returns the text of an entry, with its present setting.
func entryText(p menuPage, entry string, w World) string {
	entry = strings.ReplaceAll(entry, "_", " ")
	if p != pageMenu {
		return entry
	}
	now := map[string]string{entryAttacker: w.From, entryTarget: w.To, entryArc: strings.ReplaceAll(w.Arc, "_", " "),
		entryEdition: w.Edition}[entry]
	if now == "" {
		return entry
	}
	return fmt.Sprintf("%s %s", entry, now)
}
