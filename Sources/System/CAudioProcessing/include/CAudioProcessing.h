#pragma once

/// A C face of the C++ library webrtc-audio-processing (0.3), for 48 kHz mono in frames of 10 ms.

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Samples in a frame.
enum { apm_frame_length = 480 };

typedef struct apm apm;

typedef struct {
    bool echo_cancellation;
    bool noise_suppression;
    bool gain_control;
    bool high_pass;
    bool voice_detection;
} apm_options;

typedef struct {
    /// Echo return loss and its enhancement, dB; long-term averages. Valid where `has_echo_metrics`.
    bool has_echo_metrics;
    int echo_return_loss;
    int echo_return_loss_enhancement;
    /// From `apm_playback` to the echo, as found in the last second, ms. Valid where `has_delay`.
    bool has_delay;
    int delay;
} apm_statistics;

/// NULL without memory, or when the library refuses.
apm *apm_create(apm_options options);
void apm_destroy(apm *processor);

/// What is about to be played. Returns 0, or the library's error code.
int apm_playback(apm *processor, const int16_t *samples);
/// Cleans what was captured, in place. `delay_ms`: from `apm_playback` to the echo of it, 0 to 499; rather too little
/// than too much, since an echo that comes before it is expected cannot be taken out.
int apm_capture(apm *processor, int16_t *samples, int delay_ms);

bool apm_has_voice(const apm *processor);
apm_statistics apm_get_statistics(apm *processor);

#ifdef __cplusplus
}
#endif
