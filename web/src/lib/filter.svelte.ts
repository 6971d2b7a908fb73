// Which turns are listed.
class Filter {
  session = $state<string | null>(null);
  /** Only those that missed, or were slow. */
  troubled = $state(false);
}

export const filter = new Filter();
