import { expect, test } from 'vitest';
import { requireTrustedPage, trustedPages } from './trusted-pages.ts';

const here = () => 'http://127.0.0.1:8787';
const local = trustedPages({ host: '127.0.0.1', publicUrl: undefined, mcpOrigins: [] }, here);
const behindProxy = trustedPages(
  { host: '0.0.0.0', publicUrl: 'https://api.example.com', mcpOrigins: ['https://app.example.com'] },
  () => 'https://api.example.com',
);
const refusal = (headers: Record<string, string>, pages = local): string => {
  try {
    requireTrustedPage(headers, pages);
    return 'admitted';
  } catch (problem) {
    return problem instanceof Error ? problem.message : '';
  }
};

test.each(['127.0.0.1:8787', 'localhost:8787', '[::1]:8787', 'LOCALHOST'])('a program that asks for %s is admitted', (host) => {
  expect(refusal({ host })).toBe('admitted');
});

test.each(['evil.example', '127.0.0.1.evil.example', 'evil.example:8787', 'localhost.evil.example', '', '127.0.0.1@evil.example'])(
  'a gateway of this machine alone refuses requests for “%s”',
  (host) => expect(refusal({ host })).toContain('serves its own machine'),
);

test.each(['http://evil.example', 'https://127.0.0.1.evil.example', 'null', 'nonsense', 'http://localhost@evil.example'])(
  'a page of %s is refused',
  (origin) => expect(refusal({ host: 'localhost', origin })).toContain('MCP_ORIGINS'),
);

test.each(['http://localhost:6274', 'http://127.0.0.1:3000', 'http://[::1]:5173'])('a page of this machine, %s, is admitted', (origin) => {
  expect(refusal({ host: 'localhost', origin })).toBe('admitted');
});

test('behind a proxy any host is taken, and of other origins those that were allowed', () => {
  expect(refusal({ host: 'tallygate.internal' }, behindProxy)).toBe('admitted');
  expect(refusal({ host: 'api.example.com', origin: 'https://api.example.com' }, behindProxy)).toBe('admitted');
  expect(refusal({ host: 'api.example.com', origin: 'https://app.example.com' }, behindProxy)).toBe('admitted');
  for (const origin of ['http://app.example.com', 'https://app.example.com:8443', 'https://evil.example'])
    expect(refusal({ host: 'api.example.com', origin }, behindProxy)).toContain('MCP_ORIGINS');
});
