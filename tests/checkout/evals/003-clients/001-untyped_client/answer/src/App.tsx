import { useQuery } from "convex/react";
import { useMemo } from "react";
import { api } from "../convex/_generated/api";

export default function App() {
  const notes = useQuery(api.notes.list);
  const texts = useMemo(() => notes?.map((note) => note.text).sort(), [notes]);
  return <ul>{texts?.map((text) => <li key={text}>{text}</li>)}</ul>;
}
