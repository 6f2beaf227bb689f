import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Mail, MailDeferred, MailRefused } from '../adapters/mail/port.ts';
import { createSmtpSender } from '../adapters/mail/smtp.ts';
import { startSmtpServer } from '../adapters/mail/testing/smtp-server.ts';
import { openPool } from '../adapters/postgres/database.ts';
import { testDatabase } from '../adapters/postgres/test-database.ts';
import { newId } from '../kernel/ids.ts';
import { silentLog } from '../kernel/log.ts';
import { createSecretBox } from '../kernel/secret-box.ts';
import { createDesk, sealForMail } from './desk.ts';
import { outcomesOfMails } from './mail-outcomes.ts';
import { createOutbox } from './outbox.ts';
import { queueMail } from './queue-mail.ts';

const box = createSecretBox([{ id: 'test', key: Buffer.alloc(32, 1) }]);
const desk = createDesk(box, () => 'https://app.example');
const event = { at: '2026-11-21T08:05:00.000Z', ip: '203.0.113.7', user_agent: 'Mozilla <script>alert(1)</script>' };
let db: Awaited<ReturnType<typeof testDatabase>>;
let pool: ReturnType<typeof openPool>;

beforeAll(async () => {
  db = await testDatabase();
  pool = openPool({ url: db.url, log: silentLog(), poolSize: 10 });
});

afterAll(async () => {
  await pool?.end();
  await db?.drop();
});

let serial = 0;
const somebody = () => `user-${++serial}@example.com`;
const queue = async (to = somebody()) => {
  await queueMail(pool, { to, template: 'password-changed', data: event });
  return to;
};
const rowOf = async (to: string) =>
  (await pool.query('select id, sent_at, failed_at, attempts, last_error, due_at > now() as waits from mails where recipient = $1', [to]))
    .rows[0];
const outboxOf = (send: (mail: Mail) => Promise<void>) =>
  createOutbox({ pool, sender: { send, close: async () => {} }, desk, log: silentLog(), keptDays: 30 });

describe('the outbox', () => {
  test('sends what is due over real SMTP, once, with the row’s id as Message-ID', async () => {
    const server = await startSmtpServer();
    const sender = createSmtpSender({ url: server.url, from: 'Tallygate <no-reply@mail.example>' });
    const outbox = createOutbox({ pool, sender, desk, log: silentLog(), keptDays: 30 });
    const to = await queue();
    expect(await outbox.sendDue()).toBe(1);
    expect(await outbox.sendDue()).toBe(0);
    const row = await rowOf(to);
    expect([row.sent_at === null, row.attempts]).toEqual([false, 1]);
    expect(server.inbox.map(({ messageId }) => messageId)).toEqual([`<${row.id}@mail.example>`]);
    await sender.close();
    await server.close();
  });

  test('a mail commits with its cause or not at all', async () => {
    const to = somebody();
    const client = await pool.connect();
    await client.query('begin');
    await queueMail(client, { to, template: 'password-changed', data: event });
    await client.query('rollback');
    client.release();
    expect(await rowOf(to)).toBeUndefined();
  });

  test('of two mails with one key the first is sent and the second is none', async () => {
    const sent: Mail[] = [];
    const data = { ...ALERT, threshold_percent: 80 };
    for (const to of [somebody(), somebody()])
      await queueMail(pool, { to, template: 'budget-alert', data, dedupeKey: 'budget:k:2026-11:80' });
    await outboxOf(async (mail) => void sent.push(mail)).sendDue();
    expect(sent.length).toBe(1);
  });

  test('several processes together send each mail once', async () => {
    const sent: string[] = [];
    const recipients = await Promise.all(Array.from({ length: 20 }, () => queue()));
    const outboxes = [1, 2, 3].map(() => outboxOf(async ({ to }) => void sent.push(to)));
    await Promise.all(outboxes.map((outbox) => outbox.sendDue()));
    expect(sent.sort()).toEqual(recipients.sort());
  });

  test('a failure is tried again later, and the mails behind it are not held up', async () => {
    const failing = await queue();
    const fine = await queue();
    const outbox = outboxOf(async ({ to }) => {
      if (to === failing) throw new Error('421 busy');
    });
    expect(await outbox.sendDue()).toBe(1);
    expect((await rowOf(fine)).sent_at).not.toBeNull();
    expect(await rowOf(failing)).toMatchObject({ sent_at: null, failed_at: null, attempts: 1, last_error: '421 busy', waits: true });
    await pool.query('update mails set due_at = now() where recipient = $1', [failing]);
    const sent: Mail[] = [];
    await outboxOf(async (mail) => void sent.push(mail)).sendDue();
    expect(sent.map(({ to }) => to)).toEqual([failing]);
  });

  test('a mail that is refused permanently, or could not be sent for two days, is given up', async () => {
    const refused = await queue();
    await outboxOf(async () => Promise.reject(new MailRefused('550 no such user', { of: 'recipient' }))).sendDue();
    expect(await rowOf(refused)).toMatchObject({ sent_at: null, failed_at: expect.any(Date), last_error: '550 no such user' });
    const old = await queue();
    await pool.query(`update mails set created_at = now() - interval '3 days' where recipient = $1`, [old]);
    await outboxOf(async () => Promise.reject(new Error('timeout'))).sendDue();
    expect((await rowOf(old)).failed_at).not.toBeNull();
  });

  test('a process that dies while it sends loses no mail, and the repeat can be recognised', async () => {
    const to = await queue();
    const handedOver = Promise.withResolvers<Mail>();
    const dying = outboxOf(async (mail) => {
      handedOver.resolve(mail);
      // Its connections end, as they do when the process is killed between the mail server's yes and our note of it. Waited for until
      // they have ended: a backend that is still terminating holds the lock on its row, which the next sender then skips.
      await pool.query(
        `select pg_terminate_backend(pid, 30000) from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`,
      );
    });
    await expect(dying.sendDue()).rejects.toThrow();
    const first = await handedOver.promise;
    expect((await rowOf(to)).sent_at).toBeNull();
    const sent: Mail[] = [];
    await outboxOf(async (mail) => void sent.push(mail)).sendDue();
    expect(sent.map(({ id }) => id)).toEqual([first.id]);
  });

  describe('of a mail that is sent once', () => {
    const queueOnce = async () => {
      const to = somebody();
      await queueMail(pool, { to, template: 'password-changed', data: event, dedupeKey: to, isSentOnce: true });
      return to;
    };
    /** Hands the mail over, and fails then. */
    const outboxThat = (fails: () => Promise<unknown>) =>
      createOutbox({
        ...{ pool, desk, log: silentLog(), keptDays: 30 },
        sender: {
          close: async () => {},
          async send(_mail, beforeHandover) {
            await beforeHandover?.();
            await fails();
          },
        },
      });
    const sentAgain = async () => {
      const sent: Mail[] = [];
      await pool.query("update mails set due_at = now() where recipient like 'user-%'");
      await outboxOf(async (mail) => void sent.push(mail)).sendDue();
      return sent.map(({ to }) => to);
    };

    test('what may have arrived when its process died, or was not heard of, is unconfirmed and never sent again', async () => {
      const killed = await queueOnce();
      const dying = outboxThat(() =>
        pool.query(
          `select pg_terminate_backend(pid, 30000) from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`,
        ),
      );
      await expect(dying.sendDue()).rejects.toThrow();
      expect((await rowOf(killed)).failed_at).toBeNull();
      expect(await sentAgain()).toEqual([]);
      const unheard = await queueOnce();
      await outboxThat(() => Promise.reject(new Error('the connection broke'))).sendDue();
      expect(await sentAgain()).toEqual([]);
      const outcomes = await outcomesOfMails(pool, [killed, unheard]);
      expect(outcomes).toHaveLength(2);
      for (const dedupeKey of [killed, unheard])
        expect(outcomes).toContainEqual(expect.objectContaining({ dedupeKey, sentAt: null, isUnconfirmed: true }));
    });

    test('what a mail server has not taken is sent again', async () => {
      const deferred = await queueOnce();
      await outboxThat(() => Promise.reject(new MailDeferred('451 later'))).sendDue();
      expect(await sentAgain()).toEqual([deferred]);
      const away = await queueOnce();
      await outboxOf(() => Promise.reject(new Error('nobody there'))).sendDue();
      expect(await sentAgain()).toEqual([away]);
    });
  });

  test('a row with an unknown template or wrong data stays and is reported, not sent', async () => {
    const to = somebody();
    await pool.query(`insert into mails (id, recipient, template, data) values ($1, $2, $3, '{}')`, [newId(), to, 'budget-alert']);
    await pool.query(`insert into mails (id, recipient, template, data) values ($1, $2, $3, '{}')`, [newId(), somebody(), 'no-such']);
    expect(await outboxOf(async () => {}).sendDue()).toBe(0);
    expect(await rowOf(to)).toMatchObject({ sent_at: null, attempts: 1 });
  });

  test('ends after the mail at hand when it is asked to stop', async () => {
    await Promise.all([queue(), queue()]);
    const stopping = new AbortController();
    expect(await outboxOf(async () => stopping.abort()).sendDue(stopping.signal)).toBe(1);
    expect(await outboxOf(async () => {}).sendDue()).toBe(1);
  });

  test('forgets what was sent a month ago, and keeps what waits', async () => {
    const sent = await queue();
    await outboxOf(async () => {}).sendDue();
    await pool.query(`update mails set sent_at = now() - interval '31 days' where recipient = $1`, [sent]);
    const waiting = await queue();
    await outboxOf(async () => {}).sweep();
    expect([await rowOf(sent), (await rowOf(waiting)).attempts]).toEqual([undefined, 0]);
    await outboxOf(async () => {}).sendDue();
  });
});

const ALERT = {
  key_id: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77',
  key_name: 'production <b>',
  kind: 'exceeded' as const,
  cause: 'spend' as const,
  threshold_percent: 100,
  required_usd: null,
  spent_usd: '25',
  cap_usd: '25',
  period: '2026-11',
  resets_at: '2026-12-01T00:00:00.000Z',
};

describe('a letter', () => {
  const composed = async (queueIt: (to: string) => Promise<void>): Promise<Mail> => {
    const sent: Mail[] = [];
    await queueIt(somebody());
    await outboxOf(async (mail) => void sent.push(mail)).sendDue();
    const [mail] = sent;
    if (!mail) throw new Error('Nothing was sent');
    return mail;
  };

  test('shows what others wrote as text and never as markup', async () => {
    const mail = await composed((to) => queueMail(pool, { to, template: 'password-changed', data: event }));
    expect(mail.html).not.toContain('<script>');
    expect(mail.html).toContain('Mozilla &lt;script&gt;');
    expect(mail.text).toContain('21 November 2026, 08:05 UTC');
  });

  test('links to the web front end with the token, which lies sealed in the row', async () => {
    const data = { sealed_token: sealForMail(box, 'tgv_secret'), expires_at: event.at };
    const mail = await composed((to) => queueMail(pool, { to, template: 'verify-email', data }));
    expect(mail.text).toContain('https://app.example/verify-email?token=tgv_secret');
    expect(mail.html).toContain('href="https://app.example/verify-email?token=tgv_secret"');
    const { rows } = await pool.query('select data::text as data from mails where recipient = $1', [mail.to]);
    expect(rows[0].data).not.toContain('tgv_secret');
  });

  test('about a budget has the numbers', async () => {
    const mail = await composed((to) => queueMail(pool, { to, template: 'budget-alert', data: ALERT }));
    expect(mail.subject).toBe('production <b> has reached its monthly cap');
    expect(mail.text).toMatch(/Spent +\$25\n.*Cap +\$25\n.*Starts again +1 December 2026, 00:00 UTC/);
    expect(mail.html).toContain('production &lt;b&gt;');
    expect(mail.text).toContain('https://app.example/keys?key_id=019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77');
  });
});
