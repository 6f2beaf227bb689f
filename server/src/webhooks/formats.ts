import type { WebhookEvent, WebhookFormat } from '@tallygate/contract';
import { describeEvent, type Notice } from './describe-event.ts';

/** What is sent of an event. */
export function bodyFor(format: WebhookFormat, event: WebhookEvent): string {
  switch (format) {
    case 'standard':
      return JSON.stringify(event);
    case 'slack':
      return JSON.stringify(slackMessage(describeEvent(event)));
    case 'teams':
      return JSON.stringify(teamsMessage(describeEvent(event)));
    default:
      return format satisfies never;
  }
}

/** `text` is what notifications show; the block is the message. Names are what callers chose: they must not become links or mentions. */
function slackMessage({ title, facts }: Notice): object {
  const lines = [`*${escapeSlack(title)}*`, ...facts.map(([label, value]) => `${escapeSlack(label)}: ${escapeSlack(value)}`)];
  return { text: escapeSlack(title), blocks: [{ type: 'section', text: { type: 'mrkdwn', text: lines.join('\n') } }] };
}

/** The three characters that Slack asks to escape, and those that begin formatting. */
const escapeSlack = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/[*_~`]/g, (mark) => `\u200b${mark}`);

/** What the trigger “When a Teams webhook request is received” of Workflows takes: one Adaptive Card. */
const teamsMessage = ({ title, facts }: Notice): object => ({
  type: 'message',
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive',
      content: {
        $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
        type: 'AdaptiveCard',
        version: '1.4',
        body: [
          { type: 'TextBlock', text: escapeCard(title), weight: 'Bolder', wrap: true },
          { type: 'FactSet', facts: facts.map(([label, value]) => ({ title: label, value: escapeCard(value) })) },
        ],
      },
    },
  ],
});

/** Texts of cards are Markdown. */
const escapeCard = (text: string): string => text.replaceAll(/[\\`*_{}[\]()#+!|<>~-]/g, (mark) => `\\${mark}`);
