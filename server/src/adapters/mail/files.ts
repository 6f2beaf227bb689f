import { mkdirSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { toMessage } from './message.ts';
import type { MailSender } from './port.ts';

/** Writes each mail as `<id>.eml` into a folder, for a server that has nobody to send through. Mail programs open such files. */
export function createFileSender({ folder, from }: { folder: string; from: string }): MailSender {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'unix' });
  return {
    async send(mail, beforeHandover) {
      const { message } = await composer.sendMail(toMessage(mail, from));
      if (!Buffer.isBuffer(message)) throw new Error('A mail was composed as a stream');
      await beforeHandover?.();
      await writeWhole(join(folder, `${mail.id}.eml`), message);
    },
    close: async () => composer.close(),
  };
}

/** Whole or not at all; a repeat replaces the file by the same one. */
async function writeWhole(path: string, bytes: Buffer): Promise<void> {
  const beside = `${path}.new`;
  const file = await open(beside, 'w', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(beside, path);
}
