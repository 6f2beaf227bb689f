import type { ReceiptPayload } from '../src/receipt.ts';
import { payloadWith } from './vector-receipts.ts';

const textUsage = { input_tokens: 1200, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 340, reasoning_tokens: 0 };
const toolUsage = {
  ...textUsage,
  ...{ web_searches: 2, web_search_previews: 1, file_searches: 1, container_gigabytes: 4 },
  ...{ image_tool_text_input_tokens: 42, image_tool_image_input_tokens: 800 },
  ...{ image_tool_text_output_tokens: 120, image_tool_image_output_tokens: 1056 },
};
const toolPrices = {
  ...{ input_tokens: '150000', output_tokens: '600000' },
  ...{ web_searches: '10000000000', web_search_previews: '25000000000', file_searches: '2500000000', container_gigabytes: '30000000000' },
  ...{ image_tool_text_input_tokens: '5000000', image_tool_image_input_tokens: '8000000' },
  ...{ image_tool_text_output_tokens: '10000000', image_tool_image_output_tokens: '30000000' },
};

/** Receipts of what tools of the provider used, of sound, and of searches, with what they show. */
export const toolPayloads: Readonly<Record<string, readonly [why: string, payload: ReceiptPayload]>> = {
  'hosted-tools': [
    'A response whose model searched the web twice, once through the older tool, searched files, ran code in a container of 4 GB and drew an image: 1,200 × 150,000 + 340 × 600,000, and for the tools 2 × 10,000,000,000 + 25,000,000,000 + 2,500,000,000 + 4 × 30,000,000,000 + 42 × 5,000,000 + 800 × 8,000,000 + 120 × 10,000,000 + 1,056 × 30,000,000 pico-USD.',
    payloadWith({
      endpoint: '/v1/responses',
      usage: toolUsage,
      unit_prices_pico_usd: toolPrices,
      cost_nano_usd: '207374000',
    }),
  ],
  'batch-with-tools': [
    'A line of a batch that searched the web: half of the 384,000,000 pico-USD of its tokens, and the whole price of the search.',
    payloadWith({
      kind: 'batch_line',
      price_factor: '0.5',
      usage: { ...textUsage, web_searches: 1 },
      unit_prices_pico_usd: toolPrices,
      cost_nano_usd: '10192000',
    }),
  ],
  rerank: [
    'A ranking of 250 documents by one query, three search units: 3 × 2,500,000,000 pico-USD.',
    payloadWith({
      endpoint: '/v1/rerank',
      usage: { ...textUsage, input_tokens: 0, output_tokens: 0, search_units: 3 },
      unit_prices_pico_usd: { search_units: '2500000000' },
      cost_nano_usd: '7500000',
    }),
  ],
  'audio-out': [
    'Speech out beside text: 1,200 × 150,000 + 100 × 600,000 + 240 × 2,400,000 pico-USD.',
    payloadWith({
      usage: { ...textUsage, audio_output_tokens: 240 },
      unit_prices_pico_usd: { input_tokens: '150000', output_tokens: '600000', audio_output_tokens: '2400000' },
      cost_nano_usd: '816000',
    }),
  ],
};
