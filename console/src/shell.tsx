import { Link, Outlet, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { endSession } from './client.ts';
import { connection, useConnection } from './connection.ts';
import { useLive } from './live.ts';
import { menuOf } from './menu.ts';
import { useLivemode, useModeInAddress, useSetLivemode } from './mode.ts';
import { queryClient } from './query-client.ts';
import { useMe } from './session.ts';

/** Loaded when it is opened for the first time. */
const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }));

const Mark = () => (
  <svg className="mark" viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="8" fill="#0f766e" />
    <path d="M8 8v16M13 8v16M18 8v16M23 8v16" stroke="#fff" strokeWidth="2.6" strokeLinecap="round" />
    <path d="M5.5 22 26.5 10" stroke="#99f6e4" strokeWidth="2.6" strokeLinecap="round" />
  </svg>
);

function Menu({ onChoose }: { onChoose: () => void }) {
  const groups = menuOf(useMe());
  return (
    <nav aria-label="Pages">
      {groups.map(([group, items]) => (
        <section key={group}>
          <h2>{group}</h2>
          <ul>
            {items.map(({ to, label }) => (
              <li key={to}>
                <Link to={to} onClick={onChoose} activeOptions={{ exact: to === '/' }} activeProps={{ 'aria-current': 'page' }}>
                  {label}
                </Link>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </nav>
  );
}

function ModeSwitch() {
  const isLive = useLivemode();
  const setLivemode = useSetLivemode();
  return (
    <fieldset className="mode">
      <legend className="unseen">Mode</legend>
      {[true, false].map((live) => (
        <label key={String(live)}>
          <input type="radio" name="mode" checked={isLive === live} onChange={() => setLivemode(live)} />
          <span>{live ? 'Live' : 'Test'}</span>
        </label>
      ))}
    </fieldset>
  );
}

function TopBar({ onMenu, onPalette, isMenuOpen }: { onMenu: () => void; onPalette: () => void; isMenuOpen: boolean }) {
  const { email } = useMe();
  const navigate = useNavigate();
  const signOut = async (): Promise<void> => {
    await endSession();
    await navigate({ to: '/sign-in' });
    // Behind the pages that look at it: they would ask again, with no session.
    queryClient.clear();
  };
  return (
    <header className="top">
      <button type="button" className="menu-button" aria-expanded={isMenuOpen} aria-controls="menu" onClick={onMenu}>
        Menu
      </button>
      <button type="button" className="search" onClick={onPalette}>
        Search<span className="search-more"> or go to…</span> <kbd>Ctrl K</kbd>
      </button>
      <ModeSwitch />
      <span className="who">{email}</span>
      <button type="button" onClick={() => void signOut()}>
        Sign out
      </button>
    </header>
  );
}

const ASK_AGAIN_MS = 3_000;

/** Says that figures may be old; and leads to the sign-in once the session has ended, and back to this page afterwards. */
function Connection() {
  const state = useConnection();
  const navigate = useNavigate();
  useEffect(() => {
    if (state !== 'signed out') return;
    connection.answered();
    const { pathname, search } = location;
    void navigate({ to: '/sign-in', search: { to: pathname.replace(/^\/console/, '') + search || '/', ended: 'yes' } });
  }, [state, navigate]);
  useEffect(() => {
    if (state !== 'lost') return;
    const asking = setInterval(() => void queryClient.refetchQueries({ type: 'active' }), ASK_AGAIN_MS);
    return () => {
      clearInterval(asking);
      void queryClient.invalidateQueries();
    };
  }, [state]);
  if (state !== 'lost') return null;
  return (
    <p className="lost" role="alert">
      The gateway does not answer. What is shown may be old; it is asked again.
    </p>
  );
}

/** Opens with Ctrl K or ⌘ K from everywhere. */
function usePaletteKey(open: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      open();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [open]);
}

/** What is around every page but the sign-in. */
export function Shell() {
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const [openPalette] = useState(() => () => setPaletteOpen(true));
  usePaletteKey(openPalette);
  useLive();
  useModeInAddress();
  return (
    <div className="frame">
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <aside id="menu" className={isMenuOpen ? 'side open' : 'side'}>
        <Link to="/" className="brand">
          <Mark /> Tallygate
        </Link>
        <Menu onChoose={() => setMenuOpen(false)} />
      </aside>
      <div className="body">
        <TopBar onMenu={() => setMenuOpen(!isMenuOpen)} onPalette={openPalette} isMenuOpen={isMenuOpen} />
        <Connection />
        <main id="main" tabIndex={-1}>
          <Outlet />
        </main>
      </div>
      <Suspense>{isPaletteOpen && <Palette onClose={() => setPaletteOpen(false)} />}</Suspense>
    </div>
  );
}
