import { BudgetExceededError, NotFoundError, Tallygate } from '@tallygate/sdk';

/** What a program of a user does with the SDK, one thing after the other; it names nothing that only one runtime has. */
export async function scenario(baseUrl: string): Promise<unknown[]> {
  const debugged: string[] = [];
  const tallygate = new Tallygate({ apiKey: 'tg_test_secret', baseUrl, onDebug: (event) => debugged.push(event.type) });
  const request = { model: 'gpt-4o-mini', messages: [{ role: 'user' as const, content: 'Say hello.' }] };
  const chat = tallygate.chat.completions;

  const { data, receiptId } = await chat.create(request).withResponse();
  let streamed = '';
  for await (const { choices } of await chat.create({ ...request, stream: true })) streamed += choices[0]?.delta.content ?? '';
  const refused = await chat.create(request).catch((error: unknown) => error);
  const afterRetry = await chat.create(request);
  const file = await tallygate.files.create({ file: new File(['{}\n'], 'questions.jsonl'), purpose: 'batch' });
  const receipt = await (await tallygate.request({ path: '/v1/receipts/of-the-vectors' })).text();
  const verdict = await tallygate.receipts.verify(receipt);
  const missing = await tallygate.receipts.get('missing').catch((error: unknown) => error);
  // Last, because it may come before the request has reached the gateway, or after.
  const aborted = await chat.create(request, { signal: AbortSignal.timeout(20) }).catch((error: unknown) => error);

  return [
    [data.choices[0]?.message.content, receiptId],
    streamed,
    refused instanceof BudgetExceededError && [refused.code, refused.budget?.limit_source, refused.requestId],
    [afterRetry.choices[0]?.message.content, debugged.filter((type) => type === 'retry').length],
    file.id,
    verdict.valid && verdict.checks.signature,
    missing instanceof NotFoundError && missing.status,
    Object(aborted).code,
  ];
}
