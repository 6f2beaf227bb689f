import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useState } from 'react';
import { type MenuItem, menuOf } from './menu.ts';
import { useMe } from './session.ts';
import { Dialog } from './ui/dialog.tsx';

const REQUEST = /^req_[0-9a-f]{32}$/;

/** Pages that what was typed finds; an id of a request leads straight to it. */
function findings(typed: string, pages: readonly MenuItem[]): readonly MenuItem[] {
  const text = typed.trim().toLowerCase();
  if (REQUEST.test(text)) return [{ to: `/requests/${text}`, label: `Request ${text}`, words: '' }];
  return pages.filter(({ label, words }) => text.split(/\s+/).every((word) => `${label} ${words}`.toLowerCase().includes(word)));
}

function Found({ items, chosen, onGo }: { items: readonly MenuItem[]; chosen: number; onGo: (item: MenuItem) => void }) {
  return (
    <div className="found" role="listbox" id="palette-found" aria-label="Pages">
      {items.map((item, index) => (
        <button
          key={item.to}
          id={`palette-${index}`}
          type="button"
          role="option"
          aria-selected={index === chosen}
          tabIndex={-1}
          onClick={() => onGo(item)}
        >
          {item.label}
        </button>
      ))}
      {items.length === 0 && <p className="quiet">Nothing is called that. A request is found by its id, req_….</p>}
    </div>
  );
}

/** The command palette: type, choose with the arrows, Enter. */
export function Palette({ onClose }: { onClose: () => void }) {
  const pages = menuOf(useMe()).flatMap(([, items]) => items);
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState(0);
  const navigate = useNavigate();
  const items = findings(typed, pages);
  const go = (item: MenuItem | undefined): void => {
    if (!item) return;
    onClose();
    void navigate({ to: item.to });
  };
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter') go(items[chosen]);
    if (step === undefined) return;
    event.preventDefault();
    setChosen((items.length + chosen + step) % Math.max(1, items.length));
  };
  const type = (text: string): void => {
    setTyped(text);
    setChosen(0);
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        aria-label="A page, or the id of a request"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-found"
        aria-activedescendant={`palette-${chosen}`}
        value={typed}
        onChange={(event) => type(event.target.value)}
        onKeyDown={onKey}
      />
      <Found items={items} chosen={chosen} onGo={go} />
    </Dialog>
  );
}
