/** Under it the tab keeps the key of what was typed into the form that was sent last, until the next page shows whether it came. */
export const sentMark = "typed and sent";
