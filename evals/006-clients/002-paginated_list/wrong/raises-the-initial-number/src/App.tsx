import { useState } from "react";
import { ArticleList } from "./ArticleList";

const TOPICS = ["science", "sports", "arts", "travel", "weather"] as const;

export default function App() {
  const [topic, setTopic] = useState<string>(TOPICS[0]);
  return (
    <main>
      <select
        aria-label="Topic"
        value={topic}
        onChange={(event) => setTopic(event.target.value)}
      >
        {TOPICS.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      {/* The key starts every topic with a fresh list. */}
      <ArticleList key={topic} topic={topic} />
    </main>
  );
}
