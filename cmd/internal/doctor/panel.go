package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sightline/hardware"
)

// How long a person has time.
const (
	lampFor   = 700 * time.Millisecond // to see a lamp, if there is no question
	pressFor  = 10 * time.Second       // to press a control
	pictureIs = 2 * time.Second        // to see the test picture, if there is no question
)

// panelFree reports whether the panel can be tested: it is wired, and the service does not use it.
// Otherwise it adds a finding with the reason.
func (e *examination) panelFree(ctx context.Context, part string, wired bool) bool {
	switch {
	case !e.setup.Panel:
		e.add(part, Skipped, "The panel is switched off in the configuration.", "")
	case !wired:
		e.add(part, Skipped, "None is wired.", "")
	case e.serviceRuns(ctx):
		e.add(part, Skipped, "The service is using it.", stopService)
	default:
		return true
	}
	return false
}

func (e *examination) lamps(ctx context.Context) {
	w := e.setup.Wiring
	wired := false
	for _, line := range w.Lines {
		wired = wired || line != ""
	}
	if !e.panelFree(ctx, "lamps", wired) {
		return
	}
	if e.noPanel() {
		e.add("lamps", Skipped, "No panel: the page's is used.", "")
		return
	}
	for i, line := range w.Lines {
		if line != "" && ctx.Err() == nil {
			e.lamp(hardware.Lamp(i), line, w.ActiveLow[i])
		}
	}
}

// noPanel reports whether this machine cannot have a panel: it is not a board and has none of the
// wired lines.
func (e *examination) noPanel() bool {
	if e.pi() {
		return false
	}
	for i, line := range e.setup.Wiring.Lines {
		if line == "" {
			continue
		}
		out, err := e.box.Lamp(line, e.setup.Wiring.ActiveLow[i])
		if err == nil {
			err = out.Close()
		}
		if !e.box.Absent(err) {
			return false
		}
	}
	return true
}

// lamp lights one lamp and asks whether it is lit.
func (e *examination) lamp(which hardware.Lamp, line string, activeLow bool) {
	name := "lamp " + which.String()
	out, err := e.box.Lamp(line, activeLow)
	if err != nil {
		e.add(name, Wrong, fmt.Sprintf("It cannot be switched: %v.", err),
			adviceFor(err, "check panel.board: the name of the pin must be one that gpioinfo lists"))
		return
	}
	err = out.Set(true)
	lit := true
	if err == nil {
		if e.box.Ask != nil {
			lit = e.box.Ask(fmt.Sprintf("Is the lamp %s (%s) lit, and no other?", which, line))
		} else {
			e.box.Pause(lampFor)
		}
	}
	err = errors.Join(err, out.Set(false), out.Close())
	switch {
	case err != nil:
		e.add(name, Wrong, fmt.Sprintf("It cannot be switched: %v.", err), "look at the log of the kernel: dmesg | tail")
	case !lit:
		do := fmt.Sprintf("look at the wiring of %s (sightline doctor wiring draws it): the lamp's long leg towards the pin, its resistor, "+
			"ground", line)
		if activeLow {
			do = fmt.Sprintf("look at the wiring of %s: the board file says active_low, so the lamp's long leg goes to 3.3 V", line)
		}
		e.add(name, Wrong, "It did not light.", do)
	case e.box.Ask == nil:
		e.add(name, OK, line+" was switched on and off; no person confirmed that it was seen.", "")
	default:
		e.add(name, OK, "It lights.", "")
	}
}

// adviceFor returns what to do about an error of a device.
func adviceFor(err error, otherwise string) string {
	switch text := err.Error(); {
	case strings.Contains(text, "permission denied"):
		return "join the groups gpio, i2c, spi and video (sightline doctor --only user says which is missing)"
	case strings.Contains(text, "busy"):
		return "end the other program that has it: perhaps sudo systemctl stop sightline, or a dtoverlay in /boot/firmware/config.txt uses " +
			"the pin"
	}
	return otherwise
}

func (e *examination) display(ctx context.Context) {
	bus := e.setup.Wiring.Bus
	if !e.panelFree(ctx, "display", bus != "") {
		return
	}
	if device := hardware.BusDevice(bus); !e.exists(device) && !e.pi() {
		e.add("display", Skipped, "No panel: the page's is used.", "")
		return
	}
	address := e.setup.Wiring.Display.Address
	do := "look at its four wires: SDA on pin 3, SCL on pin 5, 3.3 V, ground"
	if strings.HasPrefix(hardware.BusDevice(bus), "/dev/i2c-") {
		n := strings.TrimPrefix(hardware.BusDevice(bus), "/dev/i2c-")
		do = fmt.Sprintf("look at its four wires (SDA on pin 3, SCL on pin 5, 3.3 V, ground); i2cdetect -y %s shows who answers: if that is "+
			"not %#x, set display.address in the board file", n, address)
	}
	e.picture("display", "Does the display show the test picture: a frame, squares, and words that are upright?", do,
		"set display.rotated in the board file if it is upside down; if rows or columns are missing, the display is broken", e.box.Display)
}

func (e *examination) strip(ctx context.Context) {
	port := e.setup.Wiring.StripPort
	if !e.panelFree(ctx, "strip", port != "") {
		return
	}
	if !e.exists(hardware.BusDevice(port)) && !e.pi() {
		e.add("strip", Skipped, "No panel: the page's is used.", "")
		return
	}
	e.picture("strip", "Does the strip light in the middle of the mat's near and far half?",
		"look at its wires, and at dtparam=spi=on in /boot/firmware/config.txt",
		"look at its supply and its data wire (the arrows point away from the cable); check strip.kind, strip.lights and strip.sides in the "+
			"board file", e.box.Strip)
}

// picture shows something and asks whether it is visible.
func (e *examination) picture(name, question, dead, wrong string, try func() (func() error, error)) {
	off, err := try()
	if err != nil {
		e.add(name, Wrong, fmt.Sprintf("It does not answer: %v.", err), adviceFor(err, dead))
		return
	}
	seen := true
	if e.box.Ask != nil {
		seen = e.box.Ask(question)
	} else {
		e.box.Pause(pictureIs)
	}
	switch err := off(); {
	case err != nil:
		e.add(name, Wrong, fmt.Sprintf("It answered and then failed: %v.", err), dead)
	case !seen:
		e.add(name, Wrong, "It answers, but does not show what it should.", wrong)
	case e.box.Ask == nil:
		e.add(name, OK, "It answers; no person confirmed that it shows the test.", "")
	default:
		e.add(name, OK, "It shows the test.", "")
	}
}

// wanted are the inputs to ask for, by control.
var wanted = []struct {
	control hardware.Control
	input   hardware.Input
	says    string
	do      string
}{
	{hardware.ControlTurn, hardware.TurnRight, "turn the knob to the right",
		"look at the wires of the encoder's A, B and ground; if it counts left, exchange a and b in the board file"},
	{hardware.ControlTurn, hardware.TurnLeft, "turn the knob to the left",
		"look at the wires of the encoder's A, B and ground; if it counts right, exchange a and b in the board file"},
	{hardware.ControlKnob, hardware.PushKnob, "push the knob", "look at the wires of the knob's switch: pin and ground"},
	{hardware.ControlChoose, hardware.PushChoose, "push the button choose", "look at the button's wires: pin and ground"},
	{hardware.ControlFreeze, hardware.PushFreeze, "push the button freeze", "look at the button's wires: pin and ground"},
}

func (e *examination) controls(ctx context.Context) {
	lines := e.setup.Wiring.Controls
	wired := false
	for _, c := range lines {
		wired = wired || len(c.Names) > 0
	}
	if !e.panelFree(ctx, "controls", wired) {
		return
	}
	if e.noPanel() {
		e.add("controls", Skipped, "No panel: the page's is used.", "")
		return
	}
	if e.box.Tell == nil {
		e.add("controls", Skipped, "No person is present to press them.", "run sightline doctor in a terminal, without --yes")
		return
	}
	ctx, stop := context.WithCancel(ctx)
	did := make(chan hardware.Did, 64)
	ended := make(chan error, 1)
	go func() {
		ended <- e.box.Controls(ctx, func(d hardware.Did) {
			select {
			case did <- d:
			default: // no one presses that fast
			}
		})
	}()
	defer func() { stop(); <-ended }()
	for _, w := range wanted {
		if len(lines[w.control].Names) > 0 && ctx.Err() == nil {
			e.control(ctx, w.control, w.input, w.says, w.do, did)
		}
	}
}

// control asks for one input and waits for it.
func (e *examination) control(ctx context.Context, c hardware.Control, want hardware.Input, says, do string, did <-chan hardware.Did) {
	name := "control " + c.String()
	e.box.Tell(fmt.Sprintf("Now %s, within %.0f seconds.", says, pressFor.Seconds()))
	timeout := time.NewTimer(pressFor)
	defer timeout.Stop()
	for other := ""; ; {
		select {
		case d := <-did:
			if d.Input == want {
				e.add(name, OK, "It came: "+want.String()+".", "")
				return
			}
			other = d.Input.String()
		case <-timeout.C:
			if other != "" {
				e.add(name, Wrong, fmt.Sprintf("Asked to %s, got %q.", says, other), do)
			} else {
				e.add(name, Wrong, fmt.Sprintf("Asked to %s, got nothing within %.0f seconds.", says, pressFor.Seconds()), do)
			}
			return
		case <-ctx.Done():
			e.add(name, Skipped, "Stopped before it was pressed.", "")
			return
		}
	}
}
