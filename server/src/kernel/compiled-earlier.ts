/**
 * Options of V8. By its own rules a function is compiled to fast code after 3,000 calls, and waits for 500 more after each new kind of argument: a
 * gateway would serve its first thousands of requests with code that is an eighth slower. Most functions of a request are called once for
 * each, and always alike.
 */
export const COMPILED_EARLIER: readonly string[] = ['--invocation-count-for-turbofan=600', '--minimum-invocations-after-ic-update=200'];
