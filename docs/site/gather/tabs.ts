const FENCE = /^```(\w+) title="([^"]+)"\n([\s\S]*?)^```\n?/gm;
/** Blocks with a title, one after the other with nothing but an empty line between. */
const ALTERNATIVES = /(?:^```\w+ title="[^"]+"\n[\s\S]*?^```\n\n?){2,}/gm;
const CODE_OR_MARK = /(^```[\s\S]*?^```|`[^`\n]+`)|([{}<])/gm;

const IMPORT = "import { TabItem, Tabs } from '@astrojs/starlight/components';\n\n";

/** Whether a text shows the same thing in several languages: then it is MDX on the site. */
export const hasTabs = (text: string): boolean => text.search(ALTERNATIVES) >= 0;

/** A Markdown text as MDX, in which the alternatives are tabs. In the Markdown file they follow each other. */
export function withTabs(text: string): string {
  const escaped = text.replaceAll(CODE_OR_MARK, (_, code: string | undefined, mark: string) => code ?? `\\${mark}`);
  return (
    IMPORT +
    escaped.replaceAll(ALTERNATIVES, (blocks) => {
      const items = blocks.replaceAll(FENCE, '<TabItem label="$2">\n\n```$1\n$3```\n\n</TabItem>\n');
      return `<Tabs syncKey="client">\n${items}\n</Tabs>\n\n`;
    })
  );
}
