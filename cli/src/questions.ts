import { createInterface, type Interface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** Asks a person at the terminal; Ctrl-C aborts. */
export async function ask(question: string, shown: Writable, signal: AbortSignal): Promise<string> {
  const reply = await readLine(shown, signal, (lines) => lines.question(question, { signal }));
  return reply.trim();
}

/** The same without showing what is typed. Readline's echo goes nowhere, so the question is written past it. */
export async function askSecret(question: string, shown: Writable, signal: AbortSignal): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  try {
    return await readLine(nowhere, signal, (lines) => {
      // Only now has readline silenced the terminal itself: asked earlier, a fast or pasted reply would be shown.
      shown.write(question);
      return lines.question('', { signal });
    });
  } finally {
    shown.write('\n');
  }
}

async function readLine(echo: Writable, signal: AbortSignal, read: (lines: Interface) => Promise<string>): Promise<string> {
  signal.throwIfAborted();
  const lines = createInterface({ input: process.stdin, output: echo, terminal: true });
  // While readline has the terminal, Ctrl-C comes as a key and not as a signal.
  lines.on('SIGINT', () => process.emit('SIGINT'));
  try {
    return await read(lines);
  } finally {
    lines.close();
  }
}
