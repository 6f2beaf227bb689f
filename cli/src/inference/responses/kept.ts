import type { ResponseItem } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../../command.ts';
import { EXIT, type ExitCode } from '../../exit-codes.ts';
import { plainText } from '../../print.ts';
import { ITEM_FIELDS, RESPONSE_FIELDS, showItems, showResponse } from './show-response.ts';

/** Commands on a stored response. */
export function keptResponses(responses: Command, perform: Perform): void {
  withJson(RESPONSE_FIELDS, responses.command('get').description('Show a stored response').argument('<response-id>')).action(perform(get));
  withJson(
    RESPONSE_FIELDS,
    responses
      .command('wait')
      .description('Wait until a background response has ended; exit code 1 unless it is completed')
      .argument('<response-id>'),
  ).action(perform(wait));
  withJson(
    RESPONSE_FIELDS,
    responses.command('cancel').description('Stop a background response; what was generated is charged').argument('<response-id>'),
  ).action(perform(cancel));
  withJson(
    ITEM_FIELDS,
    responses.command('items').description('List the new input items of a response, oldest first').argument('<response-id>'),
  ).action(perform(items));
  responses.command('delete').description('Delete a stored response').argument('<response-id>').action(perform(remove));
}

type OfOne = Typed<object>;

async function get(world: CommandWorld, { args: [id = ''] }: OfOne): Promise<void> {
  const client = await world.connect();
  await showResponse(world, await client.responses.get(id, {}, { signal: world.signal }));
}

async function wait(world: CommandWorld, { args: [id = ''] }: OfOne): Promise<ExitCode> {
  const client = await world.connect();
  const response = await client.responses.wait(id, { signal: world.signal });
  await showResponse(world, response);
  return response.status === 'completed' ? EXIT.ok : EXIT.failure;
}

async function cancel(world: CommandWorld, { args: [id = ''] }: OfOne): Promise<void> {
  const client = await world.connect();
  await showResponse(world, await client.responses.cancel(id, { signal: world.signal }));
}

async function items(world: CommandWorld, { args: [id = ''] }: OfOne): Promise<void> {
  const client = await world.connect();
  const found: ResponseItem[] = [];
  for await (const item of client.responses.inputItems(id, { order: 'asc', limit: 100 }, { signal: world.signal })) found.push(item);
  showItems(world, found);
}

async function remove(world: CommandWorld, { args: [id = ''] }: OfOne): Promise<void> {
  const client = await world.connect();
  await client.responses.delete(id, { signal: world.signal });
  world.err.write(plainText(`Deleted ${id}.\n`));
}
