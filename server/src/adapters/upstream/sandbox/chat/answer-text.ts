import type { ChatCompletionRequest } from '@tallygate/contract';
import { describeAttachments } from './attachments.ts';

type Message = ChatCompletionRequest['messages'][number];

const LONGEST_QUOTE = 200;
const MOST_RESULTS = 4;
/** Where every text comes from. */
export const ABOUT =
  "This answer comes from Tallygate's sandbox: no model was asked, nothing is billed, and the same request always gets the same answer. A tg_live_ key reaches real models.";

export const REFUSAL = "I'm sorry, but the sandbox was asked to refuse this (X-Sandbox-Fault: refusal).";

/** What the user said last. */
export const lastUserMessage = (messages: readonly Message[]): Message | undefined => messages.findLast(({ role }) => role === 'user');

export function textOf(content: Message['content']): string {
  if (!Array.isArray(content)) return content ?? '';
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(' ');
}

/** Answers in words, one for each choice: what was understood of the request, and where the answer comes from. */
export function answersInWords(messages: readonly Message[], count: number): (index: number) => string {
  const results = trailingResults(messages);
  const said = [...(results.length > 0 ? [quoteResults(results)] : understood(lastUserMessage(messages))), ABOUT].join(' ');
  return (index) => (index > 0 ? `${said} (Choice ${index + 1} of ${count}.)` : said);
}

function understood(message: Message | undefined): string[] {
  const text = textOf(message?.content);
  const attachments = describeAttachments(message?.content);
  if (/\S/.test(text)) return [`You said: ${quote(text)}.`, ...attachments];
  return attachments.length > 0 ? attachments : ['You said nothing.'];
}

/** The results of tools that the conversation ends with. */
function trailingResults(messages: readonly Message[]): Message[] {
  const before = messages.findLastIndex(({ role }) => role !== 'tool' && role !== 'function');
  return messages.slice(before + 1);
}

function quoteResults(results: readonly Message[]): string {
  const quotes = results.slice(0, MOST_RESULTS).map(({ content }) => quote(textOf(content)));
  const more = results.length > quotes.length ? ` and ${results.length - quotes.length} more` : '';
  return `${results.length > 1 ? 'The tools' : 'The tool'} answered: ${quotes.join(', ')}${more}.`;
}

/** The beginning of a text on one line. */
export function quote(text: string): string {
  const line = text
    .slice(0, 10 * LONGEST_QUOTE)
    .toWellFormed()
    .replace(/\s+/g, ' ')
    .trim();
  const characters = Array.from(line);
  return `"${characters.length > LONGEST_QUOTE ? `${characters.slice(0, LONGEST_QUOTE).join('')}…` : line}"`;
}
