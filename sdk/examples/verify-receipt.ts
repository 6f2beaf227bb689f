// Checks a receipt with nothing but a copy of the service's public keys.
import { NotFoundError, type ReceiptResponse, Tallygate, verifyReceipt } from '@tallygate/sdk';

const tallygate = new Tallygate();
const keys = await tallygate.receipts.keys(); // Keep them: with them no service is needed.
const { receiptId = '' } = await tallygate.chat.completions
  .create({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Say hello.' }] })
  .withResponse();

const receipt = await receiptOnceItIsThere(receiptId);
const found = verifyReceipt(receipt, keys);
console.log(found.valid ? `valid: ${found.payload.cost_nano_usd} nano-USD` : `refused: ${found.reason}`);

const forged = { ...receipt, payload: { ...receipt.payload, cost_nano_usd: '1' } };
console.log(`forged: ${verifyReceipt(forged, keys).valid ? 'valid' : 'refused'}`);

/** It is written a moment after the answer. */
async function receiptOnceItIsThere(id: string): Promise<ReceiptResponse> {
  for (;;) {
    try {
      return await tallygate.receipts.get(id);
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}
