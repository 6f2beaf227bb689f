import { createServer, type Server, type ServerResponse } from 'node:http';

const USAGE = { prompt_tokens: 1, completion_tokens: 1, input_tokens: 1, output_tokens: 1, total_tokens: 2 };
const GOOGLE_USAGE = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };

/** The shortest answer of a provider, by the path that it is asked at. */
const ANSWERS: readonly (readonly [path: RegExp, answer: object])[] = [
  [/:generateContent$/, { candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }], usageMetadata: GOOGLE_USAGE }],
  [/:batchEmbedContents$/, { embeddings: Array.from({ length: 2_048 }, () => ({ values: [0] })) }],
  [
    /\/messages$/,
    { id: 'm', type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Hi' }], stop_reason: 'end_turn', usage: USAGE },
  ],
  [
    /\/responses$/,
    {
      ...{ id: 'r', object: 'response', status: 'completed', created_at: 1, usage: USAGE },
      output: [{ type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }],
    },
  ],
  [/\/images\/edits$/, { created: 1, data: [{ b64_json: 'aGk=' }], usage: USAGE }],
  [/\/audio\/transcriptions$/, { text: 'Hi', usage: { ...USAGE, type: 'tokens' } }],
  [/\/v1\/rerank$/, { results: [{ index: 0, relevance_score: 0.5 }], usage: USAGE }],
  [/\/v2\/rerank$/, { results: [{ index: 0, relevance_score: 0.5 }], meta: { billed_units: { search_units: 1 } } }],
  [/\/moderations$/, { id: 'm', model: 'm', results: [{ flagged: false, categories: {}, category_scores: {} }] }],
  [/\/embeddings$/, { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0] }], usage: USAGE }],
  [
    /\/v1\/completions$/,
    { id: 'c', object: 'text_completion', choices: [{ index: 0, text: 'Hi', finish_reason: 'stop', logprobs: null }], usage: USAGE },
  ],
  [
    /\/chat\/completions$/,
    {
      id: 'c',
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
      usage: USAGE,
    },
  ],
];

export interface ScriptedAnswers {
  readonly server: Server;
  /** Server-sent events that are answered with in place of what is short. */
  events: Buffer | undefined;
}

/** A provider on the thread that is measured: it looks at nothing that arrives, and answers in pieces. */
export function shortAnswers(): ScriptedAnswers {
  const scripted: ScriptedAnswers = {
    events: undefined,
    server: createServer((incoming, res) => {
      incoming.resume().once('end', () => {
        const { events } = scripted;
        if (events) return sendFrom(res.writeHead(200, { 'content-type': 'text/event-stream' }), events, 0);
        const answer = ANSWERS.find(([path]) => path.test(incoming.url ?? ''))?.[1];
        res.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(answer ?? {}));
      });
    }),
  };
  return scripted;
}

function sendFrom(res: ServerResponse, events: Buffer, at: number): void {
  if (at >= events.length) res.end();
  else res.write(events.subarray(at, at + 65_536), () => setImmediate(sendFrom, res, events, at + 65_536));
}
