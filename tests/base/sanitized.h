/* Whether a sanitizer is active. It makes each trial five to ten times slower, so a test that would
 * damage every byte then damages only some. Plain builds and the long commands do all. */
#ifndef TESTS_BASE_SANITIZED_H
#define TESTS_BASE_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* A step over bytes or trials: 1, or larger under a sanitizer. Odd, so every bit is covered. */
#define STEP_IF_SANITIZED(step) (SANITIZED ? (step) : 1)

#endif
