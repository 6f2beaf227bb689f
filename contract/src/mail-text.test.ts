import { describe, expect, test } from 'vitest';
import { MarketingEmailSendRequest, MarketingInviteBatchRequest } from './index.ts';

const faultOf = (part: 'subject' | 'text' | 'html', words: string): string | undefined => {
  const request = { to: { filter: {} }, subject: 'Hello', text: 'Hi.', [part]: words };
  return MarketingEmailSendRequest.safeParse(request).error?.issues[0]?.path[0]?.toString();
};
const invitation = (words: object) =>
  MarketingInviteBatchRequest.safeParse({
    ...{ name: 'Beta', recipients: [{ email: 'ada@example.com' }], expires_at: '2027-01-31T00:00:00.000Z', ...words },
  }).error?.issues[0]?.path[0];

describe('text between double braces', () => {
  test.each(['{{first_name}}', '{{ first_name | there }}', '{{link}}{{company|}}', '{ {name} }', '}}{{'])(
    'may be a variable: %s',
    (words) => {
      expect([faultOf('subject', words), faultOf('text', words), faultOf('html', words)]).toEqual([undefined, undefined, undefined]);
    },
  );

  test.each(['{{First_name}}', '{{first name}}', '{{}}', 'Hi {{name}} {{#if x}}'])('is never sent unreplaced: %s', (words) => {
    expect([faultOf('subject', words), faultOf('text', words), faultOf('html', words)]).toEqual(['subject', 'text', 'html']);
  });

  test('of an invitation is the name alone', () => {
    expect(invitation({ subject: '{{ name }}, come in', message: 'Hello {{name}}.' })).toBeUndefined();
    expect([invitation({ subject: 'Hi {{first_name}}' }), invitation({ message: 'Hi {{name|there}}' })]).toEqual(['subject', 'message']);
  });
});
