import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from './browser.ts';
import { ConsoleInBrowser } from './console-in-browser.ts';
import { exampleOf } from './console-pages.ts';

const executable = chromiumPath();
const HEADER = 'email,name,tags,consent,consent_given_at';
const row = (index: number) => `person${index}@example.com,"Person, ${index}",beta,given,2026-11-01T08:00:00Z`;

describe.skipIf(!executable)('the marketing part of the console', () => {
  let seen: ConsoleInBrowser;
  let page: Page;

  beforeAll(async () => {
    seen = await ConsoleInBrowser.open(executable);
    ({ page } = seen);
    await seen.signedInAt('/people', 'People');
  });
  afterAll(() => seen?.close());

  test('imports people from a file, with its errors by line, and finds them by the address of the page', async () => {
    // Of several parts, with an error in the last.
    const rows = Array.from({ length: 2_500 }, (_, index) => row(index));
    const csv = [HEADER, ...rows, 'not an address,,,,'].join('\n');
    await page.getByRole('link', { name: 'Import', exact: true }).click();
    await page.getByLabel('CSV file').setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) });
    await page.getByText('people.csv has 2,501 rows with email, name, tags, consent, consent_given_at.').waitFor();
    await seen.press('Import 2,501 rows');
    await page.getByText('2,501 of 2,501 rows of people.csv are read.').waitFor();
    const errors = page.getByRole('region', { name: 'Rows that were not imported' });
    expect(await errors.getByRole('row').nth(1).textContent()).toMatch(/^2,502email: /);
    await seen.expectFits();
    await seen.goTo('/people?q=person7@example.com&consent=given');
    await page.getByRole('link', { name: 'Person, 7', exact: true }).click();
    await seen.settled('Person, 7');
    await seen.expectFits();
  });

  test('refuses a file that is not in UTF-8 before anything of it is sent', async () => {
    await seen.goTo('/people/import');
    const buffer = Buffer.from('email,name\njorg@example.com,J\xf6rg', 'latin1');
    await page.getByLabel('CSV file').setInputFiles({ name: 'old.csv', mimeType: 'text/csv', buffer });
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('old.csv is not a text file in UTF-8');
    expect(await page.getByRole('button', { name: /^Import/ }).count()).toBe(0);
  });

  test('writes a template, shows how it reads, and sends a test letter to nobody but the writer', async () => {
    await seen.goTo('/email-templates');
    await seen.press('Write a template');
    await page.getByLabel('Name, for the team').fill('beta-open, with a name that is longer than a phone is wide');
    await page.getByLabel('Subject').fill('{{first_name|Hello}}, the beta is open');
    await page.getByLabel('Text', { exact: true }).fill('Come in: {{link}}\n{{sender}}');
    await page.getByLabel('Values of its own variables').fill('sender = The team');
    await seen.press('Save');
    await seen.press('Preview');
    await page.getByLabel('To the first who is found by').fill('person9@example.com');
    await page.getByLabel('{{link}}').fill('https://example.com/beta');
    await seen.press('Show it');
    await page.getByText('Come in: https://example.com/beta').first().waitFor();
    expect(await page.getByText('Person,, the beta is open').or(page.getByText('Person, the beta is open')).count()).toBe(1);
    await seen.expectFits();
    await seen.press('Send me a test letter');
    await page.getByText(`It is on its way to ${seen.gateway.bootstrap.admin_email}.`).waitFor();
  });

  test('sends a mail with a template after it has shown whom it reaches, and lists what became of each', async () => {
    await seen.goTo('/emails');
    await seen.press('Write to people');
    await page.getByLabel('Words').waitFor();
    await seen.expectFits();
    await page.getByLabel('To those who are found by').fill('person9@example.com');
    await page.getByLabel('Words').selectOption({ index: 1 });
    await page.getByLabel('{{link}}').fill('https://example.com/beta');
    await seen.press('Show it first');
    await page.getByRole('heading', { name: 'Send it to 1 person?' }).waitFor();
    await seen.press('Send');
    await page
      .getByRole('row')
      .filter({ hasNotText: 'test letter' })
      .getByRole('link', { name: /the beta is open/ })
      .click();
    await page.getByRole('region', { name: 'Recipients' }).getByRole('link', { name: 'person9@example.com' }).waitFor();
    await seen.expectFits();
  });

  test('revokes one invitation, by the address that it was sent to, and leaves the others', async () => {
    await seen.goTo('/invites');
    await seen.press('Invite');
    await page.getByLabel('Name, for the team').fill('spring');
    await page.getByLabel('E-mail addresses').fill('ada@example.com, grace@example.com');
    await page.getByLabel('Credit, USD').fill('5');
    await page.getByRole('dialog').getByRole('button', { name: 'Invite', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const invitation = (email: string) => page.getByRole('region', { name: 'Invitations' }).getByRole('row').filter({ hasText: email });
    await seen.press('Open');
    for (const email of ['ada@example.com', 'grace@example.com']) await invitation(email).waitFor();
    await invitation('ada@example.com').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('heading', { name: 'Revoke the invitation of ada@example.com?' }).waitFor();
    await seen.press('Revoke the invitation');
    await invitation('ada@example.com').getByText('revoked').waitFor();
    expect(await invitation('grace@example.com').getByText('revoked').count()).toBe(0);
  });

  test('refunds a paid place once it has said what goes back, with the reason', async () => {
    // The payment sandbox sells no places.
    const answer = exampleOf('/v1/marketing/events/{slug}/registrations');
    const [registration] = answer.data;
    const paid = { ...registration, name: 'Ada Lovelace', payment_status: 'paid', price_usd: '25' };
    const asked: unknown[] = [];
    await page.route('**/v1/marketing/events/*/registrations*', (route) => route.fulfill({ json: { ...answer, data: [paid] } }));
    await page.route(`**/v1/events/admin/registrations/${paid.registration_id}/refund`, (route) => {
      asked.push(route.request().postDataJSON());
      return route.fulfill({ json: {} });
    });
    await seen.goTo('/events/vibethon');
    await seen.press('Refund');
    expect(await page.getByRole('dialog').textContent()).toMatch(/Refund the place of Ada Lovelace\?.*\$25\.00 go back/s);
    await page.getByLabel('Why').fill('Ill that day');
    await seen.press('Refund the place');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(asked).toEqual([{ reason: 'Ill that day' }]);
  });
});
