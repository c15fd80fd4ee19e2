package capture

import "sightline/vision"

// RawFrame is the conversion of one raw picture.
func RawFrame(o CSIOptions, raw []byte) vision.Frame { return o.frame(raw) }
