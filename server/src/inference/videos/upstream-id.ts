/** Longer ids are no ids. */
const LONGEST_ID = 2_000;

/** The provider's own id of what it has made; undefined where the answer is nothing that has one. */
export function idOf(answer: unknown): string | undefined {
  if (typeof answer !== 'object' || answer === null || !('id' in answer) || typeof answer.id !== 'string') return undefined;
  return answer.id === '' || answer.id.length > LONGEST_ID || answer.id.includes('\0') ? undefined : answer.id;
}
