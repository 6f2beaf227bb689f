import { OPERATIONS, pageOf } from '../src/reference/document.ts';

/** What people type who want a page, in their words: the search ranks it as it does titles. By the address of the page inside the site. */
const QUESTIONS: Readonly<Record<string, string>> = {
  'start/openai-sdk': 'how do I get started, quickstart, python, node, base_url',
  'start/typescript': 'how do I use the TypeScript SDK, install, npm',
  'concepts/hard-caps': 'what happens when I run out of money, out of budget, credit used up, overspending, holds',
  'concepts/fallbacks': 'fallback, what happens when a provider fails',
  'concepts/runs': 'what is an agent run',
  'guides/inference': 'how do I call a model, streaming, how do I stream, structured output, tools, vision',
  'guides/responses': 'responses API, conversations, background, streaming',
  'guides/batches': 'how do I make a batch, half price',
  'guides/files': 'how do I upload a file',
  'guides/videos': 'how do I make a video',
  'guides/catalog': 'how do I add a model, prices',
  'guides/rate-limits': 'rate limit, 429 too many requests, concurrency',
  'guides/pagination': 'how do I read the next page, cursor, limit, offset, has_more',
  'guides/idempotency': 'idempotency key, retry, how do I repeat a request safely, duplicate',
  'guides/request-ids': 'request ID, X-Request-Id, trace, correlation, find a request',
  'guides/provider-presets': 'groq, together, fireworks, cerebras, deepinfra, ollama, vllm, lm studio, llama.cpp, sglang, qwen, kimi, glm',
  'guides/routing': 'routing, load balancing, provider preference, order, only, ignore, latency, throughput, max price, openrouter',
  'guides/rerank': 'rerank, reranker, cohere, jina, RAG, retrieval, search unit, relevance',
  'guides/moderations': 'moderation, content filter, flagged, how do I check content',
  'guides/runs': 'how do I cap an agent run, hard ceiling',
  'guides/budgets': 'how do I set a budget, monthly cap, spending limit, alerts',
  'guides/plans': 'plans, quota, upgrade, overage',
  'guides/payments': 'webhook, Stripe, how do I pay, top up, checkout',
  'guides/ledger': 'how much did I spend, usage, costs',
  'guides/receipts': 'how do I verify a receipt, refund, correction',
  'guides/authentication': 'authentication, authorization, bearer token, API key, 401, 403, which header',
  'guides/invoices': 'how do I verify my bill, check an invoice, month statement',
  'concepts/receipt-format': 'receipt format, specification, verifier in python, go, another language',
  'guides/attacks': 'can the gateway cheat, rewritten log, fork, equivocation, monitor, audit',
  'guides/identity': 'login, how do I log in, password, session, second factor',
  'guides/keys': 'how do I create an API key, rotate, revoke, scopes',
  'guides/invites': 'invite, invitation, beta code',
  'guides/cli': 'command line, terminal, exit codes',
  'guides/mcp': 'MCP server, tools for agents, Claude',
  'guides/running':
    'deployment, docker, kubernetes, systemd, how do I run it, deploy, self-host, production, configuration, environment variables',
  'guides/providers': 'how do I add a provider, OpenAI key, Anthropic, Gemini, Azure, Ollama, vLLM',
  'guides/sandbox': 'test mode, sandbox, provoke errors',
  'guides/anchoring': 'anchor, blockchain, chain, timestamp, RFC 3161',
  models: 'models, prices, how much does a model cost, context window',
};

/** An operation by its call; one of a whole collection before those of its members. */
const CALLS: Readonly<Record<string, string>> = Object.fromEntries(
  OPERATIONS.filter(({ path }) => !path.includes('{')).map((operation) => [pageOf(operation), `${operation.method} ${operation.path}`]),
);

/** For the head of a page, from where the index of the search takes it; how much each counts is in astro.config.mjs. */
export function questionsOf(slug: string): readonly Readonly<Record<string, unknown>>[] {
  const [name, content] = slug in CALLS ? ['called', CALLS[slug]] : ['asked', QUESTIONS[slug]];
  return content === undefined ? [] : [{ tag: 'meta', attrs: { name: 'keywords', content, 'data-pagefind-meta': `${name}[content]` } }];
}
