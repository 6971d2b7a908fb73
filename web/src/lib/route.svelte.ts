// Which turn is open, from the address: `#turn=ID`. So a turn can be linked to, and "back" closes it.
class Route {
  turn = $state<string | null>(null);
  /** Where the focus was before; also says that "back" leads to this page. */
  #from: HTMLElement | null = null;

  start(): () => void {
    const read = () => {
      this.turn = new URLSearchParams(location.hash.slice(1)).get('turn');
      if (!this.turn) this.#restoreFocus();
    };
    read();
    addEventListener('hashchange', read);
    return () => removeEventListener('hashchange', read);
  }

  open(id: string): void {
    const focus = document.activeElement;
    if (!this.turn && focus instanceof HTMLElement) this.#from = focus;
    const hash = `#${new URLSearchParams({ turn: id }).toString()}`;
    if (!this.turn) {
      location.hash = hash;
      return;
    }
    history.replaceState(null, '', hash); // from one turn to another: "back" still closes
    this.turn = id;
  }

  close(): void {
    if (this.#from) {
      history.back(); // ends in read()
      return;
    }
    history.replaceState(null, '', location.pathname + location.search);
    this.turn = null;
  }

  #restoreFocus(): void {
    this.#from?.focus();
    this.#from = null;
  }
}

export const route = new Route();
