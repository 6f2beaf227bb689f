import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './query-client.ts';
import { router } from './router.tsx';
import 'uplot/dist/uPlot.min.css';
import './styles/theme.css';
import './styles/frame.css';
import './styles/parts.css';

const root = document.getElementById('root');
if (!root) throw new Error('The page has no place for the console');
// The page that is asked for loads beside the question who is there.
for (const { routeId } of router.matchRoutes(router.latestLocation)) {
  const component = router.routesById[routeId]?.options.component;
  if (component && 'preload' in component) void component.preload?.();
}
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
