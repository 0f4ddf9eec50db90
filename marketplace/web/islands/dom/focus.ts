/** Puts one element in another's place; a keyboard that was in that one, such as on its button, goes on there. */
export function replaceFocused(old: HTMLElement, made: HTMLElement): void {
  const hadFocus = old.contains(document.activeElement);
  old.replaceWith(made);
  if (hadFocus) focusOn(made);
}

/** Moves the keyboard to an element that takes it at no press of Tab. */
export function focusOn(element: HTMLElement): void {
  element.tabIndex = -1;
  element.focus({ preventScroll: true });
}
