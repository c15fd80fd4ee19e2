//go:build opencv

#include <opencv2/core/utils/logger.hpp>

extern "C" void sl_silence_opencv(void)
{
	cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
}
