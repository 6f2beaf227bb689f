// Prints as JSON what one client sees of a gateway: node npm-clients.mjs CLIENT FOLDER BASE_URL KEY KEY_WITHOUT_MONEY
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [client = '', folder = '', url = '', key = '', poor = ''] = process.argv.slice(2);
/** Of the folder in which the client is installed. */
const load = createRequire(join(folder, 'package.json'));
const MODEL = 'gpt-4o-mini';
const HELLO = 'Say hello.';
const asked = [];

/** The status of what is thrown. */
const thrown = (call) =>
  call().then(
    () => null,
    (error) => error.status ?? error.statusCode ?? error.cause?.statusCode,
  );

async function joined(pieces) {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}

function lookWith(z) {
  const parameters = z.object({ city: z.string() });
  const execute = (input) => {
    asked.push(input.city);
    return 'sun';
  };
  return { description: 'The weather of a city.', parameters, execute };
}

const CLIENTS = {
  async mastra() {
    const { Agent } = load('@mastra/core/agent');
    const { createTool } = load('@mastra/core/tools');
    const { parameters, ...rest } = lookWith(load('zod'));
    const look = createTool({ id: 'look', inputSchema: parameters, ...rest });
    const agent = (apiKey, name = MODEL, more = {}) => {
      const model = { id: `tallygate/${name}`, url: `${url}/v1`, apiKey };
      return new Agent({ id: 'assistant', name: 'Assistant', instructions: 'Be brief.', model, maxRetries: 0, ...more });
    };
    await agent(key, MODEL, { tools: { look } }).generate(HELLO);
    return {
      plain: (await agent(key).generate(HELLO)).text,
      streamed: await joined((await agent(key).stream(HELLO)).textStream),
      error: await thrown(() => agent(key, 'nothing').generate(HELLO)),
      cap: await thrown(() => agent(poor).generate(HELLO)),
    };
  },

  async llamaindex() {
    const { openai } = load('@llamaindex/openai');
    const { tool } = load('llamaindex');
    const model = (apiKey, name = MODEL) => openai({ apiKey, model: name, baseURL: `${url}/v1`, maxRetries: 0 });
    const messages = [{ role: 'user', content: HELLO }];
    await model(key).exec({ messages, tools: [tool({ name: 'look', ...lookWith(load('zod')) })] });
    const pieces = await model(key).complete({ prompt: HELLO, stream: true });
    return {
      plain: (await model(key).complete({ prompt: HELLO })).text,
      streamed: await joined(textsOf(pieces)),
      error: await thrown(() => model(key, 'nothing').complete({ prompt: HELLO })),
      cap: await thrown(() => model(poor).complete({ prompt: HELLO })),
    };
  },
};

async function* textsOf(pieces) {
  for await (const { text } of pieces) yield text;
}

const seen = await CLIENTS[client]();
process.stdout.write(`\n${JSON.stringify({ ...seen, asked })}\n`, () => process.exit(0));
