/**
 * Why an answer ended, and that a response is not whole, as the makers' APIs write it. Quotes within texts are escaped, so that no text can
 * look like a member; that of a tool's arguments may, and such an answer is not kept.
 */
const ENDED_EARLY = [
  /"finish_reason"\s*:\s*"(?!stop"|tool_calls"|function_call")/,
  /"stop_reason"\s*:\s*"(?!end_turn"|stop_sequence"|tool_use")/,
  /"finishReason"\s*:\s*"(?!STOP")/,
  /"blockReason"\s*:\s*"/,
  /"status"\s*:\s*"(?:incomplete|failed|cancelled)"/,
];

/** Whether the model ended its answer: not a bound on its tokens, a filter, or an error. @param answer as its client got it, whole */
export function endsByItself(answer: Buffer): boolean {
  const text = answer.toString('latin1');
  return !ENDED_EARLY.some((reason) => reason.test(text));
}
