import { setTimeout as pause } from 'node:timers/promises';
import type { Tallygate } from '@tallygate/sdk';
import type { CommandWorld } from '../command.ts';
import { reportOf } from '../failure.ts';
import { type Finding, fail, ok } from './finding.ts';

const RECEIPT_TRIES = 20;
const RECEIPT_PAUSE_MS = 250;

/** A request that costs nothing, and a receipt that holds. */
export async function checkService(world: CommandWorld): Promise<Finding[]> {
  const { env, signal } = world;
  const client = await world.connect();
  const isTest = env.apiKey?.startsWith('tg_test_') === true;
  if (!isTest) {
    const { data } = await client.models.list({ signal });
    const listed = ok('request', `${data.length} models; nothing was asked of them, since that would cost`);
    const [newest] = (await client.receipts.list({ limit: 1 }, { signal })).data;
    return [listed, newest === undefined ? ok('receipt', 'there is none yet to verify') : await checkReceipt(world, client, newest.id)];
  }
  const question = { model: 'gpt-4o-mini', messages: [{ role: 'user' as const, content: 'Say hello.' }], max_tokens: 16 };
  const call = client.chat.completions.create(question, { signal });
  const { receiptId, modelServed, overheadMs } = await call.withResponse();
  const answered = ok(
    'request',
    `${modelServed ?? 'a model'} answered the test key for free; the gateway took ${overheadMs ?? '?'} ms of it`,
  );
  return [answered, ...(receiptId === undefined ? [] : [await checkReceipt(world, client, receiptId)])];
}

async function checkReceipt({ signal }: CommandWorld, client: Tallygate, receiptId: string): Promise<Finding> {
  const { LogForkError } = await import('@tallygate/sdk');
  const keys = await client.receipts.keys({ signal });
  for (let tries = 1; ; tries += 1) {
    try {
      const found = await client.receipts.verify(await client.receipts.get(receiptId, { signal }), keys, { signal });
      return found.valid
        ? ok('receipt', `${receiptId} is signed by the gateway, and its cost follows from its usage`)
        : fail('receipt', `${receiptId} is not valid: ${found.reason}`, 'Keep it, and tell the operator of the gateway.');
    } catch (error) {
      if (error instanceof LogForkError)
        return fail('receipt', error.message, `Both states are in ${error.evidence}: show it to the operator.`);
      // It is written a moment after the answer.
      if ((await reportOf(error)).code !== 'not_found' || tries === RECEIPT_TRIES) throw error;
      await pause(RECEIPT_PAUSE_MS, undefined, { signal });
    }
  }
}
