import { fileURLToPath } from 'node:url';
import type { DiscoveryDocuments } from '../discovery/index.ts';
import type { AccessControl } from './http/access-control.ts';
import { consoleRoutes } from './http/console.ts';
import { createDocsSite } from './http/docs-site.ts';
import { createDocumentPages } from './http/document-pages.ts';
import { createRequireMetricsReader } from './http/metrics-reader.ts';
import { pageRoutes } from './http/pages.ts';
import type { ServedRoute } from './http/router.ts';
import type { Metrics } from './metrics.ts';

const DOCS_SITE = fileURLToPath(new URL('../../../docs/site/dist', import.meta.url));
/** Built beside the code. */
const CONSOLE = fileURLToPath(new URL('./console', import.meta.url));

interface SiteDeps {
  readonly accessControl: AccessControl;
  readonly isHttps: boolean;
  readonly renderMetrics: Metrics['render'];
  readonly metricsToken: string;
  readonly documents: DiscoveryDocuments;
}

/** What is no operation of the contract: the console, the documentation, short pages and the metrics. */
export function openSite({ accessControl, isHttps, renderMetrics, metricsToken, documents }: SiteDeps) {
  const docs = createDocsSite(DOCS_SITE);
  const routes: readonly ServedRoute[] = [
    ...consoleRoutes({ folder: CONSOLE, accessControl, isHttps }),
    ...pageRoutes({
      renderMetrics,
      requireMetricsReader: createRequireMetricsReader(metricsToken),
      documents: createDocumentPages(documents),
      docs,
    }),
  ];
  return { hasDocs: docs.isBuilt, routes };
}
