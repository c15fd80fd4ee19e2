package capture

import (
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

func TestTheStructuresOfTheListsAreTheKernels(t *testing.T) {
	for request, size := range map[uintptr]uintptr{
		vidiocQueryCap: unsafe.Sizeof(v4l2Capability{}), vidiocEnumFmt: unsafe.Sizeof(v4l2Format{}),
		vidiocEnumFrameSizes: unsafe.Sizeof(v4l2FrameSize{}), vidiocEnumFrameIntervals: unsafe.Sizeof(v4l2FrameInterval{}),
	} {
		assert.Equal(t, request>>16&0x3fff, size, "request %#x: its number holds the structure's size", request)
	}
}

// listableDevice answers as a driver does.
type listableDevice struct {
	capability v4l2Capability
	formats    []v4l2Format
	sizes      map[uint32][]v4l2FrameSize
	intervals  map[[2]uint32][]v4l2FrameInterval
}

func (d *listableDevice) ioctl(request uintptr, arg unsafe.Pointer) error {
	switch request {
	case vidiocQueryCap:
		*(*v4l2Capability)(arg) = d.capability
		return nil
	case vidiocEnumFmt:
		if f := (*v4l2Format)(arg); int(f.index) < len(d.formats) && f.kind == bufVideoCapture {
			*f = d.formats[f.index]
			return nil
		}
	case vidiocEnumFrameSizes:
		if s := (*v4l2FrameSize)(arg); int(s.index) < len(d.sizes[s.pixels]) {
			*s = d.sizes[s.pixels][s.index]
			return nil
		}
	case vidiocEnumFrameIntervals:
		v := (*v4l2FrameInterval)(arg)
		if all := d.intervals[[2]uint32{v.width, v.height}]; int(v.index) < len(all) {
			*v = all[v.index]
			return nil
		}
	}
	return syscall.EINVAL
}

func listedWebcam() *listableDevice {
	const mjpg, yuyv = 'M' | 'J'<<8 | 'P'<<16 | 'G'<<24, 'Y' | 'U'<<8 | 'Y'<<16 | 'V'<<24
	d := &listableDevice{
		formats: []v4l2Format{{pixels: yuyv}, {pixels: mjpg}},
		sizes: map[uint32][]v4l2FrameSize{
			yuyv: {{kind: kindDiscrete, size: [6]uint32{640, 480}}},
			mjpg: {{kind: kindDiscrete, size: [6]uint32{1280, 720}}, {kind: kindDiscrete, size: [6]uint32{1920, 1080}}},
		},
		intervals: map[[2]uint32][]v4l2FrameInterval{
			{640, 480}:   {{kind: kindDiscrete, interval: [6]uint32{1, 30}}},
			{1280, 720}:  {{kind: kindDiscrete, interval: [6]uint32{1, 15}}, {kind: kindDiscrete, interval: [6]uint32{1, 60}}},
			{1920, 1080}: {{kind: kindDiscrete, interval: [6]uint32{1, 30}}, {kind: kindDiscrete, interval: [6]uint32{0, 1}}},
		},
	}
	copy(d.capability.driver[:], "uvcvideo")
	copy(d.capability.card[:], "HD Webcam C920")
	d.capability.capabilities, d.capability.device = capDevice|capVideoCapture|0x800000, capVideoCapture
	return d
}

func TestAWebcamIsListedWithWhatItGives(t *testing.T) {
	got, ok := describeDevice("/dev/video0", listedWebcam())
	assert.True(t, ok)
	assert.Equal(t, Found{Source: "/dev/video0", Name: "HD Webcam C920", Modes: []Mode{
		{"MJPG", 1920, 1080, 30}, {"MJPG", 1280, 720, 60}, {"YUYV", 640, 480, 30},
	}}, got)

	ranges := listedWebcam()
	ranges.sizes[ranges.formats[0].pixels] = []v4l2FrameSize{{kind: 3, size: [6]uint32{16, 3840, 8, 16, 2160, 8}}}
	got, _ = describeDevice("/dev/video0", ranges)
	assert.Equal(t, Mode{"YUYV", 3840, 2160, 0}, got.Modes[0], "a range gives its largest size")

	never := listedWebcam()
	never.intervals[[2]uint32{640, 480}] = make([]v4l2FrameInterval, 10_000)
	_, ok = describeDevice("/dev/video0", never)
	assert.True(t, ok, "a list without an end ends")
}

func TestWhatGivesNoPicturesIsNotListed(t *testing.T) {
	metadata := listedWebcam()
	metadata.capability.device = 0x800000 // the second device of a webcam
	_, ok := describeDevice("/dev/video1", metadata)
	assert.False(t, ok)
	raw := listedWebcam()
	raw.capability.driver = [16]byte{}
	copy(raw.capability.driver[:], "rp1-cfe")
	_, ok = describeDevice("/dev/video2", raw)
	assert.False(t, ok)
	_, ok = listDevice("/dev/null")
	assert.False(t, ok, "no V4L2 device")
	_, ok = listDevice("/dev/video-none")
	assert.False(t, ok)
}

// As rpicam-apps 1.5 print it on a Raspberry Pi 5.
const csiList = `Available cameras
-----------------
0 : imx708 [4608x2592 10-bit RGGB] (/base/axi/pcie@120000/rp1/i2c@88000/imx708@1a)
    Modes: 'SRGGB10_CSI2P' : 1536x864 [120.13 fps - (768, 432)/3072x1728 crop]
                             2304x1296 [56.03 fps - (0, 0)/4608x2592 crop]
                             4608x2592 [14.35 fps - (0, 0)/4608x2592 crop]

1 : imx296 [1456x1088 10-bit MONO] (/base/axi/pcie@120000/rp1/i2c@80000/imx296@1a)
    Modes: 'R10_CSI2P' : 1456x1088 [60.38 fps - (0, 0)/1456x1088 crop]
`

func TestCSICamerasAreListed(t *testing.T) {
	assert.Equal(t, []Found{
		{Source: "csi:0", Name: "imx708 (camera port 0)", Modes: []Mode{
			{"SRGGB10_CSI2P", 4608, 2592, 14.35}, {"SRGGB10_CSI2P", 2304, 1296, 56.03}, {"SRGGB10_CSI2P", 1536, 864, 120.13}}},
		{Source: "csi:1", Name: "imx296 (camera port 1)", Modes: []Mode{{"R10_CSI2P", 1456, 1088, 60.38}}},
	}, parseCSIList(csiList))
	assert.Empty(t, parseCSIList("No cameras available!\n"))
	assert.Empty(t, parseCSIList(""))
}

func FuzzCSIList(f *testing.F) {
	f.Add(csiList)
	f.Add("0 : x [\n'A' : 99x99 [1 fps")
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range parseCSIList(text) {
			assert.NotEmpty(t, c.Source)
			for _, m := range c.Modes {
				assert.Positive(t, m.Width*m.Height)
			}
		}
	})
}
