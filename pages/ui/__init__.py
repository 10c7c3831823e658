"""What pages share: the only place besides them that imports Streamlit. No GPU arithmetic here."""
