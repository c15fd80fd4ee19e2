package firmwareconfig_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	firmwareconfig "sightline/firmware-config"
)

func TestEachBoardHasItsFragment(t *testing.T) {
	for model, want := range map[string]string{
		"Raspberry Pi 4 Model B Rev 1.5\x00": "pi4", "Raspberry Pi 5 Model B Rev 1.0\x00": "pi5",
		"Raspberry Pi 3 Model B Plus Rev 1.3": "pi3", "Raspberry Pi Zero 2 W Rev 1.0\n": "zero2w",
		"Raspberry Pi 2 Model B": "", "Raspberry Pi Zero W": "", "Radxa ROCK": "", "": "",
	} {
		name, ok := firmwareconfig.ModelOf(model)
		assert.Equal(t, want, name, model)
		assert.Equal(t, want != "", ok, model)
		if !ok {
			continue
		}
		got, err := firmwareconfig.BootFragment(name)
		require.NoError(t, err)
		file, err := os.ReadFile("boot/" + name + ".txt")
		require.NoError(t, err)
		assert.Equal(t, string(file), got)
		assert.True(t, strings.HasSuffix(got, "\n[all]\n"))
	}
	_, err := firmwareconfig.BootFragment("../board")
	assert.ErrorContains(t, err, "expected one of pi3, pi4, pi5, zero2w")
}

// settings are the lines of a config.txt that are no comments.
func settings(config string) (out []string) {
	for _, l := range strings.Split(config, "\n") {
		if l != "" && !strings.HasPrefix(l, "#") {
			out = append(out, l)
		}
	}
	return out
}

func TestTheFragmentIsAddedOnceAndKeepsTheRest(t *testing.T) {
	for _, name := range firmwareconfig.Models() {
		fragment, err := firmwareconfig.BootFragment(name)
		require.NoError(t, err)
		for _, before := range []string{"", "# mine\ndtparam=audio=on\n[cm4]\notg_mode=1", "[all]\ngpu_mem=64\n"} {
			once := firmwareconfig.AddToConfig(before, fragment, false)
			assert.True(t, strings.HasPrefix(once, before))
			assert.Equal(t, append(settings(before), settings(fragment)...), settings(once), name)
			assert.Equal(t, once, firmwareconfig.AddToConfig(once, fragment, false), "once")
			mine := strings.Replace(once, "baudrate=400000", "baudrate=100000", 1) + "dtoverlay=mine\n"
			assert.Equal(t, mine, firmwareconfig.AddToConfig(mine, fragment, false), "changed by hand, it stays")

			strip := firmwareconfig.AddToConfig(mine+"#dtparam=spi=on\n", fragment, true)
			assert.Contains(t, settings(strip), "dtparam=spi=on")
			assert.Contains(t, settings(strip), "dtparam=i2c_arm_baudrate=100000")
			assert.Equal(t, strings.Contains(fragment, "#core_freq="), strings.Contains(strip, "\ncore_freq="))
			assert.True(t, strings.HasSuffix(strip, "dtoverlay=mine\n#dtparam=spi=on\n"), "lines that are not the fragment's stay")
			assert.Equal(t, strip, firmwareconfig.AddToConfig(strip, fragment, true))
			assert.Equal(t, settings(firmwareconfig.AddToConfig(before, fragment, true)),
				settings(firmwareconfig.AddToConfig(once, fragment, true)))
		}
	}
}

// A card for every board has all fragments, each under its model's filter.
func TestTheFragmentsOfAllBoardsCoexist(t *testing.T) {
	config := "[all]\ngpu_mem=64\n"
	for _, name := range firmwareconfig.Models() {
		fragment, err := firmwareconfig.BootFragment(name)
		require.NoError(t, err)
		config = firmwareconfig.AddToConfig(config, fragment, false)
	}
	again := config
	filter, speeds := "", map[string]int{}
	for _, l := range settings(config) {
		if strings.HasPrefix(l, "[") {
			filter = l
		} else if strings.HasPrefix(l, "dtparam=i2c_arm_baudrate=") {
			speeds[filter]++
		}
	}
	assert.Equal(t, map[string]int{"[pi3]": 1, "[pi4]": 1, "[pi5]": 1, "[pi02]": 1}, speeds)
	assert.Equal(t, "[all]", filter)
	for _, name := range firmwareconfig.Models() {
		fragment, err := firmwareconfig.BootFragment(name)
		require.NoError(t, err)
		again = firmwareconfig.AddToConfig(again, fragment, false)
	}
	assert.Equal(t, config, again)
}
