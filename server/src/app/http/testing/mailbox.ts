import type { Mail } from '../../../adapters/mail/port.ts';
import type { Database } from '../../../adapters/postgres/port.ts';
import { silentLog } from '../../../kernel/log.ts';
import { createDesk, createOutbox } from '../../../mail/index.ts';
import type { Instance } from './account-api.ts';

/** All mail of an instance, as its jobs would send it. */
export function openMailbox({ identity, box }: Instance, { pool }: Database) {
  const sent: Mail[] = [];
  const outbox = createOutbox({
    pool,
    keptDays: 30,
    sender: {
      send: async (mail, beforeHandover) => {
        await beforeHandover?.();
        sent.push(mail);
      },
      close: async () => {},
    },
    desk: createDesk(
      box,
      () => 'https://app.example',
      () => 'https://gateway.example',
    ),
    log: silentLog(),
  });
  const collect = async (): Promise<readonly Mail[]> => {
    await identity.recordLoginFailures();
    await identity.answerMailRequests();
    await outbox.sendDue();
    return sent;
  };
  return {
    /** What has gone to an address so far, oldest first. */
    to: async (address: string): Promise<Mail[]> => (await collect()).filter(({ to }) => to === address),
    /** The token of the newest link to the address that leads to `path`. */
    async tokenFor(address: string, path: 'verify-email' | 'reset-password' | 'accept-invitation'): Promise<string> {
      const link = new RegExp(`https://app\\.example/${path}\\?token=(\\S+)`);
      const tokens = (await collect()).filter(({ to }) => to === address).flatMap(({ text }) => link.exec(text)?.[1] ?? []);
      const token = tokens.at(-1);
      if (token === undefined) throw new Error(`No link to ${path} was mailed to ${address}`);
      return token;
    },
  };
}
