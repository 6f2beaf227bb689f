import { createSmtpSender } from '../../../adapters/mail/smtp.ts';
import { openPool } from '../../../adapters/postgres/database.ts';
import { systemClock } from '../../../kernel/clock.ts';
import { silentLog } from '../../../kernel/log.ts';
import { createEmailSender, createUnsubscribing } from '../index.ts';

/** A sender as a separate process, for tests that kill it: `node … DATABASE_URL SMTP_URL`. It ends when nothing is due. */
const [databaseUrl = '', smtpUrl = ''] = process.argv.slice(2);
const log = silentLog();
const pool = openPool({ url: databaseUrl, log, poolSize: 10 });
const sender = createSmtpSender({ url: smtpUrl, from: 'Tallygate <news@mail.example>', connections: 4 });
const deps = { pool, sender, clock: systemClock, log, publicUrl: () => 'https://tallygate.test', perSecond: 100_000 };
await createEmailSender({ ...deps, unsubscribing: createUnsubscribing({ pool, clock: systemClock }) }).sendDue();
await sender.close();
await pool.end();
