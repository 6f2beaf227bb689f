import { pagePolicy } from '../../kernel/page-policy.ts';

/** A page with the headers that belong to it. */
export interface ScriptedPage {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Content {
  readonly title: string;
  readonly content: string;
  readonly script: string;
}

const STYLE = `body{font:16px/1.6 system-ui,sans-serif;max-width:26rem;margin:12vh auto;padding:0 1.5rem;color:#1c2024;background:#fff}
label{display:block;font-weight:600;margin:1rem 0 .25rem}input{font:inherit;width:100%;box-sizing:border-box;padding:.6rem .7rem;border:1px solid #8b8d98;border-radius:8px;background:inherit;color:inherit}
pre{overflow-x:auto;padding:.8rem 1rem;border:1px solid #8b8d98;border-radius:8px;font:14px/1.6 ui-monospace,monospace}
button{font:inherit;font-weight:600;margin-top:1.25rem;padding:.65rem 1.2rem;border:1px solid #1f6feb;border-radius:8px;background:#1f6feb;color:#fff}button.quiet{background:transparent;color:inherit;border-color:#8b8d98}[role=status]{margin-top:1rem}
[hidden]{display:none}.code{font:600 1.6rem/1.4 ui-monospace,monospace;letter-spacing:.08em}dt{font-weight:600;margin-top:.75rem}dd{margin:0;overflow-wrap:anywhere}.buttons{display:flex;gap:.75rem}:focus-visible{outline:3px solid #1f6feb;outline-offset:2px}
@media(prefers-color-scheme:dark){body{color:#edeef0;background:#111113}}`;

/** A page in the gateway's own style whose one script connects to the gateway only. */
export function scriptedPage({ title, content, script }: Content): ScriptedPage {
  const body = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title} · Tallygate</title><style>${STYLE}</style></head>
<body><main><h1>${title}</h1>${content}</main><script>${script}</script></body></html>
`;
  return { body, headers: { 'content-security-policy': pagePolicy({ style: STYLE, script }), 'cache-control': 'no-store' } };
}
