package vision

// RawFrame is the conversion of one raw picture.
func RawFrame(o CSIOptions, raw []byte) Frame { return o.frame(raw) }
