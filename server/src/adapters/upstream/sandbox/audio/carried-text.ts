/**
 * The sandbox writes what it speaks into the file, as every format's comment, so that a transcription can give it back. It finds it by
 * this mark, whatever the format.
 */
const MARK = 'Tallygate sandbox speech: ';

export const commentFor = (text: string): string => MARK + JSON.stringify(text);

/** The text that the sandbox has spoken here. */
export function carriedText(head: Buffer): string | undefined {
  const start = head.indexOf(MARK);
  if (start < 0) return undefined;
  const [quoted] = /^"(?:[^"\\]|\\.)*"/s.exec(head.toString('utf8', start + MARK.length)) ?? [];
  try {
    const text: unknown = quoted === undefined ? undefined : JSON.parse(quoted);
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
}
