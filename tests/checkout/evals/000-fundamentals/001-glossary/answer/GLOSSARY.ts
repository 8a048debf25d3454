export const glossary = {
  query: "A function that reads and never writes.",
  mutation: "A function that reads and writes in one transaction.",
  action: "A function that talks to the outside world.",
};
