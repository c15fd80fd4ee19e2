package doctor

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sightline/cmd/internal/metrics"
	"sightline/hardware"
)

func (e *examination) board(context.Context) {
	model := e.model()
	if model == "" {
		e.add("board", OK, "A Linux machine that names no board model.", "")
		return
	}
	for _, known := range []string{"Raspberry Pi 3", "Raspberry Pi 4", "Raspberry Pi 5", "Raspberry Pi Zero 2"} {
		if strings.HasPrefix(model, known) {
			e.add("board", OK, model+".", "")
			return
		}
	}
	if e.pi() {
		e.add("board", Warning, model+": sightline was not made for this model.", "use a Raspberry Pi 3, 4, 5 or Zero 2 W")
		return
	}
	e.add("board", OK, model+".", "")
}

// neededGroups returns the groups that own the devices of the setup.
func (e *examination) neededGroups() (groups []string) {
	if e.setup.Panel {
		w := e.setup.Wiring
		if wiresLines(w) {
			groups = append(groups, "gpio")
		}
		for _, bus := range []string{w.Bus, w.StripPort} {
			switch {
			case bus == "":
			case strings.Contains(strings.ToLower(bus), "spi"):
				groups = append(groups, "spi")
			default:
				groups = append(groups, "i2c")
			}
		}
	}
	if cameraDevice(e.setup.Source) {
		groups = append(groups, "video")
	}
	slices.Sort(groups)
	return slices.Compact(groups)
}

func wiresLines(w hardware.Wiring) bool {
	for _, line := range w.Lines {
		if line != "" {
			return true
		}
	}
	return slices.ContainsFunc(w.Controls[:], func(c hardware.ControlLines) bool { return len(c.Names) > 0 })
}

// cameraDevice reports whether a source is a device of this machine.
func cameraDevice(source string) bool {
	for _, prefix := range []string{"/dev/", "csi:", "rpicam:"} {
		if strings.HasPrefix(source, prefix) {
			return true
		}
	}
	return false
}

// user checks the groups of the present user and of the service's user.
func (e *examination) user(context.Context) {
	a, err := e.box.User()
	if err != nil {
		e.add("user", Wrong, fmt.Sprintf("The user is not known: %v.", err), "log in as a user of this machine")
		return
	}
	if a.Root {
		e.add("user", Warning, "This runs as root, which the program does not need: what works now may not work for the service.",
			"run it as the service does: sudo -u sightline sightline doctor --config /etc/sightline/sightline.toml")
	} else if missing := e.groupsMissing(a.Groups); len(missing) > 0 {
		e.add("user", Wrong, fmt.Sprintf("The user %s is not in the group %s.", a.Name, strings.Join(missing, ", ")),
			fmt.Sprintf("sudo usermod -aG %s %s, then log in again", strings.Join(missing, ","), a.Name))
	} else {
		e.add("user", OK, fmt.Sprintf("The user %s has every group it needs.", a.Name), "")
	}
	if a.Name == "sightline" || !strings.Contains("\n"+e.text("/etc/passwd"), "\nsightline:") {
		return
	}
	if missing := e.groupsMissing(e.groupsOf("sightline")); len(missing) > 0 {
		e.add("user", Wrong, "The service's user sightline is not in the group "+strings.Join(missing, ", ")+".",
			"sudo usermod -aG "+strings.Join(missing, ",")+" sightline, then sudo systemctl restart sightline")
	}
}

// groupsMissing returns the needed groups that a user is not in. Groups that the machine does not
// have do not count.
func (e *examination) groupsMissing(has []string) (missing []string) {
	all := "\n" + e.text("/etc/group")
	for _, g := range e.neededGroups() {
		if !slices.Contains(has, g) && strings.Contains(all, "\n"+g+":") {
			missing = append(missing, g)
		}
	}
	return missing
}

func (e *examination) groupsOf(user string) (groups []string) {
	for line := range strings.SplitSeq(e.text("/etc/group"), "\n") {
		if f := strings.Split(line, ":"); len(f) == 4 && slices.Contains(strings.Split(f[3], ","), user) {
			groups = append(groups, f[0])
		}
	}
	return groups
}

// interfaces checks that the kernel has the devices of the wired parts.
func (e *examination) interfaces(context.Context) {
	w := e.setup.Wiring
	if e.setup.Panel {
		chips := e.glob("/dev/gpiochip*")
		switch {
		case !wiresLines(w):
		case len(chips) == 0 && e.pi():
			e.add("interfaces", Wrong, "There is no /dev/gpiochip*: the kernel gives no GPIO.",
				"update the system: sudo apt full-upgrade, then reboot")
		case len(chips) == 0:
			e.add("interfaces", Skipped, "This machine has no GPIO. No panel: the page's is used.", "")
		default:
			e.openable(chips[0], "gpio")
		}
		e.bus(w.Bus, "display")
		e.bus(w.StripPort, "strip")
	}
	if s := e.setup.Source; strings.HasPrefix(s, "/dev/") {
		if e.exists(s) {
			e.openable(s, "video")
			return
		}
		do := "plug the camera in; ls /dev/video* and set camera.source"
		if others := e.glob("/dev/video*"); len(others) > 0 {
			do = "set camera.source to the camera's own: one of " + strings.Join(others, ", ")
		}
		e.add("interfaces", Wrong, fmt.Sprintf("The camera %s is not there.", s), do)
	}
}

// bus checks that the device of a part's bus exists.
func (e *examination) bus(name, part string) {
	if name == "" {
		return
	}
	device, group, param := hardware.BusDevice(name), "i2c", "i2c_arm"
	if strings.HasPrefix(device, "/dev/spidev") {
		group, param = "spi", "spi"
	}
	switch {
	case e.exists(device):
		e.openable(device, group)
	case e.pi():
		e.add("interfaces", Wrong, fmt.Sprintf("The bus of the %s, %s, is not there: it is switched off.", part, device),
			fmt.Sprintf("put dtparam=%s=on into /boot/firmware/config.txt and reboot (firmware-config/boot has the lines); for I²C also: sudo "+
				"modprobe i2c-dev", param))
	default:
		e.add("interfaces", Skipped, fmt.Sprintf("This machine has no %s for the %s. The page's panel is used.", device, part), "")
	}
}

func (e *examination) openable(device, group string) {
	if err := e.box.Openable(device); err != nil {
		e.add("interfaces", Wrong, fmt.Sprintf("%s may not be opened: %v.", device, err),
			fmt.Sprintf("join the group %s and install firmware-config/udev/70-sightline.rules", group))
		return
	}
	e.add("interfaces", OK, device+" is there and may be opened.", "")
}

// The required disk space: a registration takes 20 kB, the evidence of a dispute a few MB.
const (
	diskWrong = 50 << 20
	diskWarn  = 500 << 20
)

func (e *examination) disk(context.Context) {
	switch {
	case e.setup.RulingsTrouble != "" && e.setup.RulingsDenied:
		e.add("disk", Warning, "No judge's ruling could be recorded by this user: "+e.setup.RulingsTrouble,
			"run doctor as the service's user, or see docs/rulings.md")
	case e.setup.RulingsTrouble != "": // whoever asks: no user could record one
		e.add("disk", Wrong, "No judge's ruling can be recorded: "+e.setup.RulingsTrouble, "see docs/rulings.md")
	}
	dir := e.setup.DataDir
	s, err := e.box.Space(dir)
	if err != nil {
		e.add("disk", Wrong, fmt.Sprintf("The data directory %s cannot be looked at: %v.", dir, err),
			"make it: sudo systemd-tmpfiles --create, or mkdir -p "+dir)
		return
	}
	says := fmt.Sprintf("%s free of %s in %s.", size(s.Free), size(s.Total), dir)
	switch {
	case s.ReadOnly:
		e.add("disk", Wrong, dir+" is on a file system that is read-only: nothing can be kept.",
			"mount a writable one there (docs/box.md, read-only root)")
	case e.box.Writable(dir) != nil:
		e.add("disk", Wrong, fmt.Sprintf("This user may not write to %s: %v.", dir, e.box.Writable(dir)), "sudo chown -R sightline: "+dir+
			", or run as the service's user")
	case s.Free < diskWrong:
		e.add("disk", Wrong, "The disk is full: "+says, "remove old recordings, or use a larger card")
	case s.Free < diskWarn:
		e.add("disk", Warning, "The disk is nearly full: "+says, "remove old recordings, or use a larger card")
	default:
		e.add("disk", OK, says, "")
	}
	e.root(dir)
}

// root reports whether the root file system is read-only, and whether writes survive a loss of
// power.
func (e *examination) root(dir string) {
	kind, options := e.mountOf("/")
	readOnly := slices.Contains(strings.Split(options, ","), "ro") || kind == "overlay"
	dataKind, _ := e.mountOf(dir)
	switch {
	case kind == "":
	case dataKind == "overlay" || dataKind == "tmpfs":
		e.add("disk", Warning, fmt.Sprintf("What is kept in %s is lost when the power goes: it lies in memory (%s).", dir, dataKind),
			"mount a writable partition there (docs/box.md, read-only root)")
	case readOnly:
		e.add("disk", OK, "The root is read-only: a power cut cannot harm it.", "")
	case e.pi():
		e.add("disk", OK, "The root is writable: pulling the plug may harm the card (docs/box.md, read-only root).", "")
	}
}

// mountOf returns the type and the options of the file system that holds a path.
func (e *examination) mountOf(p string) (kind, options string) {
	longest := -1
	scan := bufio.NewScanner(strings.NewReader(e.text("/proc/mounts")))
	for scan.Scan() {
		f := strings.Fields(scan.Text())
		if len(f) < 4 {
			continue
		}
		at := strings.TrimSuffix(f[1], "/")
		if (path.Clean(p)+"/" == at+"/" || strings.HasPrefix(path.Clean(p)+"/", at+"/")) && len(at) >= longest {
			longest, kind, options = len(at), f[2], f[3]
		}
	}
	return kind, options
}

func size(bytes uint64) string {
	if bytes >= 1<<30 {
		return fmt.Sprintf("%.1f GB", float64(bytes)/(1<<30))
	}
	return fmt.Sprintf("%d MB", bytes>>20)
}

// firstYear is the year of the program's first version. An earlier date means that the clock is
// wrong.
const firstYear = 2026

func (e *examination) clock(ctx context.Context) {
	now := e.box.Now()
	if y := now.UTC().Year(); y < firstYear || y > firstYear+50 {
		e.add("clock", Wrong, fmt.Sprintf("The clock says %s, which cannot be: recordings and verifications would carry that date.",
			now.UTC().Format("2006-01-02 15:04 UTC")),
			"connect the box to a network for a minute, or: sudo date -s '2026-11-21 18:00'")
		return
	}
	says := now.UTC().Format("2006-01-02 15:04 UTC")
	out, err := e.box.Exec(ctx, "timedatectl", "show", "-p", "NTPSynchronized", "--value")
	switch {
	case err == nil && strings.TrimSpace(out) == "yes", e.exists("/run/systemd/timesync/synchronized"):
		e.add("clock", OK, says+", set by the network.", "")
	case err != nil:
		e.add("clock", OK, says+". Whether the network set it is not known here.", "")
	case len(e.glob("/dev/rtc*")) > 0:
		e.add("clock", OK, says+", from the clock chip; not set by the network.", "")
	default:
		e.add("clock", Warning, says+", but no network set it and the board has no clock of its own: it stands still while the power is off.",
			"connect the box to a network for a minute before the event")
	}
}

// A Raspberry Pi reduces its clock rate from 80 °C, and more strongly from 85 °C.
const (
	hot    = 80.0
	warmed = 70.0
)

func (e *examination) temperature(context.Context) {
	hottest := math.Inf(-1)
	for _, zone := range e.glob("/sys/class/thermal/thermal_zone*/temp") {
		if milli, err := strconv.ParseFloat(e.text(zone), 64); err == nil && milli > -60000 && milli < 200000 {
			hottest = max(hottest, milli/1000)
		}
	}
	says := fmt.Sprintf("%.0f °C.", hottest)
	switch {
	case math.IsInf(hottest, -1):
		e.add("temperature", Skipped, "This machine does not say how warm it is.", "")
	case hottest >= hot:
		e.add("temperature", Wrong, "The processor is too hot: "+says+" It slows down.",
			"give it air: a heat sink or a fan, and holes in the case")
	case hottest >= warmed:
		e.add("temperature", Warning, "The processor is warm: "+says, "give it air: a heat sink or a fan, and holes in the case")
	default:
		e.add("temperature", OK, says, "")
	}
}

// The bits of get_throttled (Raspberry Pi documentation, vcgencmd): the state now and, shifted by
// sixteen, since the start.
var throttles = []struct {
	bit      uint
	says, do string
}{
	{0, "the supply voltage is too low", "use the board's own power supply and a short, thick cable; unplug what draws power"},
	{1, "the processor's speed is capped", "give it air, and check the power supply"},
	{2, "the processor is throttled", "give it air, and check the power supply"},
	{3, "the processor is near its limit of temperature", "give it air: a heat sink or a fan, and holes in the case"},
}

func (e *examination) power(ctx context.Context) {
	raw := e.text("/" + metrics.ThrottledFile)
	if raw == "" {
		if out, err := e.box.Exec(ctx, "vcgencmd", "get_throttled"); err == nil {
			raw = strings.TrimSpace(out)
		}
	}
	bits, ok := metrics.ParseThrottled(raw)
	if !ok {
		if e.pi() {
			e.add("power", Warning, "The board does not say whether its power suffices.", "install vcgencmd: sudo apt install raspi-utils")
		} else {
			e.add("power", Skipped, "This machine does not say whether its power suffices.", "")
		}
		return
	}
	good := true
	for _, t := range throttles {
		switch {
		case bits>>t.bit&1 == 1:
			e.add("power", Wrong, "Just now "+t.says+".", t.do)
			good = false
		case bits>>(t.bit+16)&1 == 1:
			e.add("power", Warning, "Since the start it happened that "+t.says+".", t.do)
			good = false
		}
	}
	if good {
		e.add("power", OK, "The voltage was always enough and nothing was throttled.", "")
	}
}

// The required memory in kB; docs/box.md states what the program uses.
const (
	memoryWrong = 64 << 10
	memoryWarn  = 128 << 10
)

func (e *examination) memory(context.Context) {
	m := regexp.MustCompile(`(?m)^MemAvailable:\s+([0-9]+) kB`).FindStringSubmatch(e.text("/proc/meminfo"))
	if m == nil {
		e.add("memory", Skipped, "This machine does not say how much memory is free.", "")
		return
	}
	free, err := strconv.ParseUint(m[1], 10, 53)
	if err != nil {
		e.add("memory", Skipped, "This machine does not say how much memory is free.", "")
		return
	}
	says := fmt.Sprintf("%d MB of memory are free.", free>>10)
	const do = "end other programs (a desktop takes most), or use smaller pictures: camera.width, camera.height"
	switch {
	case free < memoryWrong:
		e.add("memory", Wrong, "Too little memory: "+says, do)
	case free < memoryWarn:
		e.add("memory", Warning, "Little memory: "+says, do)
	default:
		e.add("memory", OK, says, "")
	}
	if k := regexp.MustCompile(`(?m)^oom_kill ([1-9][0-9]*)$`).FindStringSubmatch(e.text("/proc/vmstat")); k != nil {
		e.add("memory", Warning, "Since the start "+k[1]+" programs were ended for lack of memory.", do)
	}
}

func (e *examination) service(ctx context.Context) {
	out, err := e.box.Exec(ctx, "systemctl", "show", "sightline.service", "-p", "LoadState,ActiveState,NRestarts,StatusText,Result")
	values := map[string]string{}
	for line := range strings.SplitSeq(out, "\n") {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			values[k] = v
		}
	}
	restarts, _ := strconv.Atoi(values["NRestarts"]) // absent: none
	switch {
	case err != nil, values["LoadState"] != "loaded":
		e.add("service", Skipped, "The service is not installed here: the program is started by hand.", "")
	case values["ActiveState"] == "active" && restarts > 0:
		e.add("service", Warning, fmt.Sprintf("The service runs, but was started again %d times.", restarts),
			"see why: journalctl -u sightline -p warning")
	case values["ActiveState"] == "active":
		e.add("service", OK, strings.TrimSpace("The service runs. "+values["StatusText"]), "")
	case values["ActiveState"] == "inactive":
		e.add("service", OK, "The service is installed and stopped.", "")
	default:
		e.add("service", Wrong, fmt.Sprintf("The service is %s (%s).", values["ActiveState"], values["Result"]),
			"see why: journalctl -u sightline -n 20")
	}
}

// commandWithin is how long a command may take.
const commandWithin = 5 * time.Second
