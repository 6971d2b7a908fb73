// Light, dark, or as the system has it. Kept in this browser.
export type Theme = 'system' | 'light' | 'dark';

const place = 'samovar-theme';
const order: Theme[] = ['system', 'light', 'dark'];

class ThemeChoice {
  value = $state<Theme>(read());
  /** Counts changes of what is seen: canvases paint again. */
  changes = $state(0);

  start(): () => void {
    this.#apply();
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const changed = () => ++this.changes;
    dark.addEventListener('change', changed);
    return () => dark.removeEventListener('change', changed);
  }

  next(): void {
    this.value = order[(order.indexOf(this.value) + 1) % order.length] ?? 'system';
    localStorage.setItem(place, this.value);
    this.#apply();
  }

  #apply(): void {
    document.documentElement.dataset['theme'] = this.value;
    ++this.changes;
  }
}

function read(): Theme {
  const kept = localStorage.getItem(place);
  return order.find((theme) => theme === kept) ?? 'system';
}

export const theme = new ThemeChoice();
