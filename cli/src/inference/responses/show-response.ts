import type { ResponseItem, ResponseObject } from '@tallygate/sdk';
import type { CommandWorld } from '../../command.ts';
import { type Column, printList, printRecord } from '../../print.ts';
import { costText } from '../prompt.ts';

/** For `--json`. */
export const RESPONSE_FIELDS: readonly string[] = [
  ...['id', 'status', 'output_text', 'output', 'model', 'usage', 'cost_usd', 'error', 'incomplete_details', 'created_at', 'metadata'],
  ...['previous_response_id', 'conversation', 'background', 'store', 'instructions', 'tools'],
];

type Shown = ResponseObject & { readonly output_text: string; readonly cost_usd: string | undefined };

/** A response with what people ask of it first. */
export async function shown(response: ResponseObject): Promise<Shown> {
  // Loaded only now, as with every command: this module is read at every start of the program.
  const { outputText } = await import('@tallygate/sdk');
  return { ...response, output_text: outputText(response), cost_usd: costText(response.usage?.cost) };
}

const LINES: readonly Column<Shown>[] = [
  { title: 'Id', of: ({ id }) => id },
  { title: 'Status', of: ({ status }) => status },
  { title: 'Model', of: ({ model }) => model },
  { title: 'Created', of: ({ created_at }) => new Date(created_at * 1000).toISOString() },
  { title: 'After', of: ({ previous_response_id }) => previous_response_id },
  { title: 'Error', of: ({ error }) => error?.message },
  { title: 'Cost', of: ({ cost_usd }) => cost_usd },
  { title: 'Text', of: ({ output_text }) => output_text },
];

export const showResponse = async (world: CommandWorld, response: ResponseObject): Promise<void> =>
  printRecord(world, await shown(response), LINES);

/** For `--json`. */
export const ITEM_FIELDS: readonly string[] = [
  ...['id', 'type', 'role', 'status', 'content', 'call_id', 'name', 'arguments', 'output', 'summary'],
];

const COLUMNS: readonly Column<ResponseItem>[] = [
  { title: 'id', of: ({ id }) => id },
  { title: 'type', of: ({ type = 'message' }) => type },
  { title: 'role', of: ({ role }) => role },
  { title: 'text', of: textOf },
];

export const showItems = (world: CommandWorld, items: readonly ResponseItem[]): void => printList(world, items, COLUMNS);

function textOf({ content, arguments: given, output }: ResponseItem): string {
  const said = content ?? given ?? output;
  if (typeof said === 'string') return said;
  if (!Array.isArray(said)) return '';
  return said
    .map((part: { text?: unknown; type?: unknown }) => (typeof part.text === 'string' ? part.text : `[${String(part.type)}]`))
    .join('');
}
