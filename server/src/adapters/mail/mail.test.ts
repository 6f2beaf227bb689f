import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { afterEach, describe, expect, test } from 'vitest';
import { createFileSender } from './files.ts';
import { type Mail, MailRefused, type MailSender } from './port.ts';
import { createSmtpSender } from './smtp.ts';
import { startSmtpServer } from './testing/smtp-server.ts';

const FROM = 'Tallygate <no-reply@mail.example>';
const mail: Mail = {
  id: '019aa2f1-c2d3-7b6e-8c4d-1f00aa55ee77',
  to: 'ada@example.com',
  subject: 'Grüße – 你好',
  text: 'Plain text, ünïcode, and a line\n.\nwith a dot.',
  html: '<p>Markup</p>',
};
const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function sendingTo(behaviour: Parameters<typeof startSmtpServer>[0], login = '') {
  const server = await startSmtpServer(behaviour);
  endings.push(() => server.close());
  const sender = createSmtpSender({ url: `smtp://${login}127.0.0.1:${server.port}`, from: FROM });
  endings.push(() => sender.close());
  return { server, sender };
}

const failureOf = (sender: MailSender): Promise<unknown> =>
  sender.send(mail).then(
    () => undefined,
    (failure) => failure,
  );

describe('over SMTP', () => {
  test('a mail arrives whole, as text and as HTML, and a repeat has the same Message-ID', async () => {
    const { server, sender } = await sendingTo({ password: 'right' }, 'user:right@');
    await sender.send(mail);
    await sender.send(mail);
    const [first, second] = server.inbox;
    expect(first).toMatchObject({
      from: { name: 'Tallygate', address: 'no-reply@mail.example' },
      to: [{ address: mail.to }],
      subject: mail.subject,
      messageId: `<${mail.id}@mail.example>`,
    });
    expect([first?.text?.trim(), first?.html?.trim()]).toEqual([mail.text, mail.html]);
    expect(first?.headers.find(({ key }) => key === 'auto-submitted')?.value).toBe('auto-generated');
    expect(second?.messageId).toBe(first?.messageId);
  });

  test('a recipient that is refused permanently is a refusal', async () => {
    const { sender } = await sendingTo({ recipient: () => 550 });
    expect(await failureOf(sender)).toBeInstanceOf(MailRefused);
  });

  test('a mail that is refused permanently is a refusal', async () => {
    const { sender } = await sendingTo({ data: () => 554 });
    expect(await failureOf(sender)).toBeInstanceOf(MailRefused);
  });

  test.each<[string, Parameters<typeof startSmtpServer>[0], string]>([
    ['a recipient that is refused for now', { recipient: () => 450 }, ''],
    ['a mail that is refused for now', { data: () => 451 }, ''],
    ['a password of ours that is wrong', { password: 'right' }, 'user:wrong@'],
  ])('%s is a failure that may pass', async (_what, behaviour, login) => {
    const { sender } = await sendingTo(behaviour, login);
    const failure = await failureOf(sender);
    expect(failure).toBeInstanceOf(Error);
    expect(failure).not.toBeInstanceOf(MailRefused);
  });

  test('a server that is not there is a failure that may pass', async () => {
    const { server, sender } = await sendingTo({});
    await server.close();
    expect(await failureOf(sender)).not.toBeInstanceOf(MailRefused);
  });

  test('no line break in an address or a subject becomes a header or a second recipient', async () => {
    const { server, sender } = await sendingTo({});
    await sender.send({ ...mail, subject: 'Hello\r\nBcc: eve@example.com' });
    await sender.send({ ...mail, to: 'ada@example.com, eve@example.com' }).catch(() => {});
    expect(server.inbox.every(({ bcc }) => bcc === undefined)).toBe(true);
    expect(server.inbox.flatMap(({ to }) => to ?? []).some(({ address }) => address === 'eve@example.com')).toBe(false);
  });
});

describe('into files', () => {
  test('each mail is one .eml that mail programs read, for its owner alone; a repeat replaces it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tallygate-mail-'));
    endings.push(async () => rmSync(folder, { recursive: true }));
    const sender = createFileSender({ folder: join(folder, 'mail'), from: FROM });
    await sender.send(mail);
    await sender.send(mail);
    expect(readdirSync(join(folder, 'mail'))).toEqual([`${mail.id}.eml`]);
    const path = join(folder, 'mail', `${mail.id}.eml`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const parsed = await PostalMime.parse(readFileSync(path));
    expect(parsed).toMatchObject({ subject: mail.subject, to: [{ address: mail.to }], messageId: `<${mail.id}@mail.example>` });
    expect(parsed.text?.trim()).toBe(mail.text);
  });
});
